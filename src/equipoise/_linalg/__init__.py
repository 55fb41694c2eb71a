"""Linear algebra: factors, triangular systems, distinct points; and one thread for BLAS."""

from equipoise._linalg.factors import cholesky as cholesky
from equipoise._linalg.factors import firsts as firsts
from equipoise._linalg.factors import grouped as grouped
from equipoise._linalg.factors import lapack as lapack
from equipoise._linalg.factors import noisy_cholesky as noisy_cholesky
from equipoise._linalg.factors import safe_cholesky as safe_cholesky
from equipoise._linalg.factors import semidefinite as semidefinite
from equipoise._linalg.factors import solve_lower as solve_lower
from equipoise._linalg.threads import one_thread as one_thread
