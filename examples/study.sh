#!/bin/sh
# A control room without Python: tune a laser from a shell script.
#
#     examples/study.sh [FOLDER]
#
# The laser is simulated, by a program that takes two settings and prints an intensity. Its detector drifts by more
# than there is to gain, and the beam is lost now and then. Everything is written to FOLDER, by default a new one.
set -eu

folder=${1:-$(mktemp -d)}
study=$folder/study.jsonl
laser=$folder/laser

cat > "$laser" <<'END'
#!/bin/sh
# laser --q1=A --q2=B prints the intensity; `laser.shots` counts the shots, which are its clock.
for word; do
    case $word in
        --q1=*) q1=${word#*=} ;;
        --q2=*) q2=${word#*=} ;;
    esac
done
shot=$(($(cat "$0.shots" 2> /dev/null || echo 0) + 1))
echo "$shot" > "$0.shots"
if [ $((shot % 13)) -eq 0 ]; then
    echo "beam lost" >&2
    exit 1
fi
awk -v q1="$q1" -v q2="$q2" -v t="$shot" 'BEGIN {
    srand(t)
    print 5 * exp(-(q1 - 0.7)^2 - 2 * (q2 + 0.3)^2) + 0.2 * t + sin(t / 4) + 0.1 * (rand() - 0.5)
}'
END
chmod +x "$laser"

echo "# A new study, in one file."
equipoise new "$study" --float q1 -2 2 --float q2 -1 1 --seed 1

echo "# By hand: ask, measure, tell. The settings come as assignments that a shell can evaluate: values are quoted, and"
echo "# a parameter whose name means something to the shell, such as PATH, would come as x_PATH."
for _ in 1 2; do
    asked=$(equipoise ask "$study")
    echo "$asked"
    trial=${asked%% *}
    eval "${asked#* }"
    if value=$("$laser" "--q1=$q1" "--q2=$q2"); then
        equipoise tell "$study" "$trial" "$value"
    else
        equipoise fail "$study" "$trial" beam lost
    fi
done

echo "# The rest by itself, until nothing can be better by more than 0.3, by audit, or there are 160 readings."
if equipoise run "$study" --eps 0.3 --readings 160 -- "$laser"; then
    echo "# Certified."
else
    echo "# Not certified (exit code $?)."
fi

echo "# What happened."
equipoise status "$study"
equipoise export "$study" --out "$folder/study.csv"
head -n 3 "$folder/study.csv"
equipoise plot "$study" || echo "(no picture)"
