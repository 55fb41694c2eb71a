"""The judge who likes the first place: a win rate follows the list, the study does not."""

import importlib.util
from pathlib import Path

PATH = Path(__file__).parents[2] / "examples" / "judge.py"


def test_shows_what_it_claims(tmp_path, capsys):
    spec = importlib.util.spec_from_file_location("example_judge", PATH)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    path = tmp_path / "judge.png"
    lost = example.main(["--seeds", "1", "--out", str(path)])
    assert lost["Equipoise"][0] < lost["win rate"][0]
    assert path.read_bytes().startswith(b"\x89PNG")
    assert "66 judgements; first place preferred in" in capsys.readouterr().out
