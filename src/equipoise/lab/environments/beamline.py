"""A beam line: three quadrupole magnets focus a particle beam through the aperture of a detector.

Linear optics in the coordinates (x, x', y, y'), as in Wiedemann, Particle Accelerator Physics (W). Notation:
    k      quadrupole strength in 1/m^2, positive focuses x and defocuses y
    R      transfer matrix of the line, (4, 4)
    Sigma  covariance of the beam, (4, 4); at the detector R Sigma R'
The knobs are the strengths; the reading is the fraction of the beam that passes the aperture. As on a real
machine the optimum is narrow and the knobs are strongly coupled.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf

from equipoise._typing import FloatArray
from equipoise.lab.environments.function import Function

_LENGTH = 0.2  # of each magnet, m
_GAPS = (0.4, 0.4, 2.0)  # field-free length after each magnet, m
BEAM = np.diag(np.square([1.0e-3, 0.1e-3, 2.0e-3, 0.2e-3]))  # m, rad, m, rad
_APERTURE = 0.7e-3  # half the width of the square opening, m
_LIMIT = 6.0  # strongest magnet, 1/m^2
_MAXIMIZER = (-1.1656386363439848, 5.313803406883045, -5.37661785116127)  # by root finding on the gradient


def beam_line() -> Function:
    """Return the transmitted intensity as a function of three quadrupole strengths in [-6, 6] / m^2.

    Examples:
        >>> line = beam_line()
        >>> round(line.maximum, 4), round(float(line([0.0, 0.0, 0.0])), 4)
        (0.9205, 0.1279)
    """
    return Function.box("beamline", intensity, [[-_LIMIT, _LIMIT]] * 3, _MAXIMIZER)


def intensity(strengths: ArrayLike) -> FloatArray:
    """Return the fraction of a Gaussian beam that passes the aperture, (..., 3) to (...).

    Examples:
        >>> intensity([[1.0, -2.0, 1.0], [0.0, 0.0, 0.0]]).round(4)
        array([0.1544, 0.1279])
    """
    R = transfer(strengths)
    Sigma = R @ BEAM @ np.swapaxes(R, -1, -2)
    variances = np.stack((Sigma[..., 0, 0], Sigma[..., 2, 2]), axis=-1)
    # P(|x| < a) P(|y| < a) for the two independent Gaussian coordinates.
    result: FloatArray = erf(_APERTURE / np.sqrt(2.0 * variances)).prod(-1)
    return result


def transfer(strengths: ArrayLike) -> FloatArray:
    """Return the transfer matrix from the source to the detector, (..., 3) to (..., 4, 4).

    Examples:
        >>> round(float(np.linalg.det(transfer([1.0, -2.0, 1.0]))), 9)
        1.0
    """
    k = np.asarray(strengths, dtype=np.float64)
    magnets = quadrupole(k, _LENGTH)
    R: FloatArray = np.eye(4)
    for i, gap in enumerate(_GAPS):
        R = drift_space(gap) @ magnets[..., i, :, :] @ R
    return R


def quadrupole(strength: ArrayLike, length: float) -> FloatArray:
    """Return the transfer matrix of a thick quadrupole, (...) to (..., 4, 4).

    Examples:
        >>> bool(np.allclose(quadrupole(0.0, 0.2), drift_space(0.2)))
        True
    """
    k = np.stack((np.asarray(strength, dtype=np.float64), np.negative(strength)), axis=-1)  # in x and in y
    # W, thick quadrupole: cos(phi) and sin(phi)/sqrt(k) with phi = sqrt(k) L. An imaginary phi gives cosh and
    # sinh, phi = 0 the limit, so one line serves every k smoothly.
    phi = np.sqrt(k + 0j) * length
    C, S = np.cos(phi).real, length * np.sinc(phi / np.pi).real
    R = np.zeros((*k.shape[:-1], 4, 4))
    R[..., (0, 2), (0, 2)] = R[..., (1, 3), (1, 3)] = C
    R[..., (0, 2), (1, 3)] = S
    R[..., (1, 3), (0, 2)] = -k * S
    return R


def drift_space(length: float) -> FloatArray:
    """Return the transfer matrix of a field-free length, shape (4, 4).

    Examples:
        >>> drift_space(2.0)[0]
        array([1., 2., 0., 0.])
    """
    R = np.eye(4)
    R[0, 1] = R[2, 3] = length
    return R
