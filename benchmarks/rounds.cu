// Rounds of linear IDS with two-point duels: one thread a learner, its state in registers over many rounds.
//
//   symbol   meaning                                                         size
//   M, D     number of actions, of features
//   X        features of the actions                                         M D
//   theta    mean of the parameter                                           D
//   C        its covariance, lower triangle by rows                          D (D + 1) / 2
//   truth    the parameter itself: f(a) = <a, truth>                         D
//   xh, z    leader; rival, the action of least information ratio
//   psi      variance of f(xh) - f(a)                                        M
//   g        mean(xh) - mean(a)                                              M
//   delta    largest plausible regret of the leader
//
// The formulas are those of policies/ids.py and belief/listed.py, with the equations of KK21 named there; the variance of
// a difference is taken as (xh - a)' C (xh - a), which single precision stands. The same source is compiled for a GPU
// (nvcc) and for a processor (any C++ compiler), which is how it is tested. Arrays are stored with the learner last.
//
// Coins of learner l in round t: Philox(key = seed; counter = l, t, 0): order of the pair, duel or greedy, two for the
// noise; (l, t, 1): ties of the leader, ties of the rival. Philox4x32-10 is that of Salmon et al. (2011).

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define DEVICE __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#else
#define DEVICE static inline
#define UNROLL
#endif

#ifndef REAL
#define REAL float
#endif
#ifndef ACTIONS
#define ACTIONS 20
#endif
#ifndef FEATURES
#define FEATURES 4
#endif
#define PACKED (FEATURES * (FEATURES + 1) / 2)

typedef REAL real;

struct Settings {
    double regularizer, rho, norm_bound, log_term;      // log_term = 2 log(1 / delta) of the confidence
    double noise, slope, level, follow_value, follow_noise;  // offset = slope t + level - follow . (last value, last noise)
    uint64_t seed;
};

struct State {
    const real *X, *truth;  // (M D, L), (D, L)
    real *theta, *C, *log_det, *last_value, *last_noise, *regret;
};

DEVICE void philox(uint32_t c[4], uint32_t k0, uint32_t k1) {
    UNROLL for (int i = 0; i < 10; ++i) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c[0], p1 = (uint64_t)0xCD9E8D57u * c[2];
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c[1] ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;
        c[1] = (uint32_t)p1;
        c[3] = (uint32_t)p0;
        c[0] = n0;
        c[2] = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

DEVICE real unit(uint32_t bits) { return (real)((bits >> 8) + (real)0.5) * (real)(1.0 / 16777216.0); }  // inside (0, 1)

// Sine and cosine of so many full turns.
#ifdef __CUDACC__
DEVICE void turned(float turns, float *sine, float *cosine) { sincospif(2 * turns, sine, cosine); }
DEVICE void turned(double turns, double *sine, double *cosine) { sincospi(2 * turns, sine, cosine); }
#else
DEVICE void turned(real turns, real *sine, real *cosine) {
    *sine = std::sin((real)6.283185307179586 * turns);
    *cosine = std::cos((real)6.283185307179586 * turns);
}
#endif

DEVICE real dot(const real *x, int step, const real *v) {
    real sum = 0;
    UNROLL for (int i = 0; i < FEATURES; ++i) sum += x[i * step] * v[i];
    return sum;
}

// v' C v
DEVICE real quadratic(const real *C, const real *v) {
    real sum = 0;
    int at = 0;
    UNROLL for (int i = 0; i < FEATURES; ++i) {
        real row = 0;
        UNROLL for (int j = 0; j < i; ++j) row += C[at++] * v[j];
        sum += v[i] * (2 * row + C[at++] * v[i]);
    }
    return sum;
}

// C v
DEVICE void product(const real *C, const real *v, real *result) {
    UNROLL for (int i = 0; i < FEATURES; ++i) result[i] = 0;
    int at = 0;
    UNROLL for (int i = 0; i < FEATURES; ++i) {
        UNROLL for (int j = 0; j < i; ++j) {
            result[i] += C[at] * v[j];
            result[j] += C[at++] * v[i];
        }
        result[i] += C[at++] * v[i];
    }
}

// The largest entry; of several that are equal, the one that a coin says, which is thrown only then.
DEVICE int fair_argmax(const real *scores, long l, long t, int which, uint64_t seed) {
    real best = scores[0];
    int ties = 1, chosen = 0;
    UNROLL for (int a = 1; a < ACTIONS; ++a) {
        ties = scores[a] > best ? 1 : ties + (scores[a] == best);
        chosen = scores[a] > best ? a : chosen;
        best = scores[a] > best ? scores[a] : best;
    }
    if (ties == 1) return chosen;
    uint32_t coins[4] = {(uint32_t)l, (uint32_t)(l >> 32), (uint32_t)t, 1};
    philox(coins, (uint32_t)seed, (uint32_t)(seed >> 32));
    int wanted = (int)(unit(which ? coins[1] : coins[0]) * ties);
    for (int a = 0; a < ACTIONS; ++a)
        if (scores[a] == best && wanted-- == 0) return a;
    return chosen;
}

DEVICE void play(const Settings &s, const State &at, long learners, long l, long begin, int rounds, const real *X, int step) {
    real theta[FEATURES], C[PACKED], log_det = at.log_det[l], paid = 0;
    real last_value = at.last_value[l], last_noise = at.last_noise[l];
    UNROLL for (int i = 0; i < FEATURES; ++i) theta[i] = at.theta[i * learners + l];
    UNROLL for (int i = 0; i < PACKED; ++i) C[i] = at.C[i * learners + l];
    real truth[FEATURES], top = -(real)INFINITY;
    UNROLL for (int i = 0; i < FEATURES; ++i) truth[i] = at.truth[i * learners + l];
    for (int a = 0; a < ACTIONS; ++a) top = std::fmax(top, dot(X + a * FEATURES * step, step, truth));
    const real lambda = (real)s.regularizer;
    for (int r = 0; r < rounds; ++r) {
        const long t = begin + r;
        uint32_t coins[4] = {(uint32_t)l, (uint32_t)(l >> 32), (uint32_t)t, 0};
        philox(coins, (uint32_t)s.seed, (uint32_t)(s.seed >> 32));
        real g[ACTIONS], psi[ACTIONS], u[FEATURES], Cu[FEATURES], xh[FEATURES];
        UNROLL for (int a = 0; a < ACTIONS; ++a) g[a] = dot(X + a * FEATURES * step, step, theta);
        const int leader = fair_argmax(g, l, t, 0, s.seed);
        UNROLL for (int i = 0; i < FEATURES; ++i) xh[i] = X[(leader * FEATURES + i) * step];
        const real mean = dot(xh, 1, theta);
        const real root = (real)s.rho * std::sqrt(log_det + (real)s.log_term) + std::sqrt(lambda) * (real)s.norm_bound;
        const real scale = root * root / lambda;  // beta / lambda: KK21 Eq. (7)
        real delta = 0;
        UNROLL for (int a = 0; a < ACTIONS; ++a) {
            UNROLL for (int i = 0; i < FEATURES; ++i) u[i] = xh[i] - X[(a * FEATURES + i) * step];
            psi[a] = a == leader ? (real)0 : std::fmax(quadratic(C, u), (real)0);
            g[a] = a == leader ? (real)0 : mean - g[a];
            delta = std::fmax(delta, std::sqrt(scale * psi[a]) - g[a]);  // KK21 above Eq. (8)
        }
        UNROLL for (int a = 0; a < ACTIONS; ++a) {
            const real cost = g[a] > delta ? 4 * delta * g[a] : (delta + g[a]) * (delta + g[a]);
            psi[a] = psi[a] > 0 ? -cost / std::log1p(psi[a] / lambda) : -(real)INFINITY;  // KK21 Eq. (11), METHOD 4
        }
        int rival = fair_argmax(psi, l, t, 1, s.seed);  // the merits stand where the variances stood
        real gap = 0, merit = 0;
        UNROLL for (int a = 0; a < ACTIONS; ++a) {
            gap = a == rival ? g[a] : gap;
            merit = a == rival ? psi[a] : merit;
        }
        const real p = merit > -(real)INFINITY ? (gap > delta ? delta / gap : (real)1) : (real)0;
        if (p < 1 && unit(coins[1]) >= p) rival = leader;
        const bool heads = coins[0] < 0x80000000u;
        const int order[2] = {heads ? leader : rival, heads ? rival : leader};
        const real radius = std::sqrt(-2 * std::log(unit(coins[2])));  // Box and Muller (1958)
        real eps[2], y[2];
        turned(unit(coins[3]), &eps[1], &eps[0]);
        UNROLL for (int k = 0; k < 2; ++k) {
            const real value = dot(X + order[k] * FEATURES * step, step, truth), noise = (real)s.noise * (radius * eps[k]);
            const real followed = (real)s.follow_value * last_value + (real)s.follow_noise * last_noise;
            const real offset = (real)(s.slope * (double)(2 * t + k + 1)) + (real)s.level - followed;
            y[k] = value + offset + noise;
            paid += top - value;
            last_value = value;
            last_noise = noise;
        }
        if (rival == leader) continue;
        UNROLL for (int i = 0; i < FEATURES; ++i) u[i] = xh[i] - X[(rival * FEATURES + i) * step];
        product(C, u, Cu);
        real q = 0, expected = 0;
        UNROLL for (int i = 0; i < FEATURES; ++i) {
            q += u[i] * Cu[i];
            expected += u[i] * theta[i];
        }
        const real variance = lambda + std::fmax(q, (real)0);
        const real outcome = heads ? y[0] - y[1] : y[1] - y[0];
        const real pull = (outcome - expected) / variance;
        int entry = 0;
        UNROLL for (int i = 0; i < FEATURES; ++i) {
            theta[i] += Cu[i] * pull;  // METHOD section 3
            UNROLL for (int j = 0; j <= i; ++j) C[entry++] -= Cu[i] * Cu[j] / variance;
        }
        log_det += std::log1p(q > 0 ? q / lambda : (real)0);
    }
    UNROLL for (int i = 0; i < FEATURES; ++i) at.theta[i * learners + l] = theta[i];
    UNROLL for (int i = 0; i < PACKED; ++i) at.C[i * learners + l] = C[i];
    at.log_det[l] = log_det;
    at.last_value[l] = last_value;
    at.last_noise[l] = last_noise;
    at.regret[l] += paid;
}

#ifdef __CUDACC__
#ifndef THREADS
#define THREADS 128
#endif
#ifndef BLOCKS
#define BLOCKS 3  // on a multiprocessor at once: 2 leave 200 registers a thread, with 4 they spill
#endif

// The actions are looked up by an index known only at run time, so they lie in shared memory, a column a thread.
__global__ void __launch_bounds__(THREADS, BLOCKS) play_all(Settings s, State at, long learners, long begin, int rounds) {
    __shared__ real X[ACTIONS * FEATURES * THREADS];
    const long l = (long)blockIdx.x * THREADS + threadIdx.x;
    if (l >= learners) return;
    for (int i = 0; i < ACTIONS * FEATURES; ++i) X[i * THREADS + threadIdx.x] = at.X[i * learners + l];
    play(s, at, learners, l, begin, rounds, X + threadIdx.x, THREADS);
}

extern "C" int play_rounds(Settings s, State at, long learners, long begin, int rounds, void *stream) {
    const long blocks = (learners + THREADS - 1) / THREADS;
    play_all<<<blocks, THREADS, 0, (cudaStream_t)stream>>>(s, at, learners, begin, rounds);
    return (int)cudaGetLastError();
}
#else
extern "C" int play_rounds(Settings s, State at, long learners, long begin, int rounds, void *stream) {
    (void)stream;
    for (long l = 0; l < learners; ++l) {
        real X[ACTIONS * FEATURES];
        for (int i = 0; i < ACTIONS * FEATURES; ++i) X[i] = at.X[i * learners + l];
        play(s, at, learners, l, begin, rounds, X, 1);
    }
    return 0;
}
#endif
