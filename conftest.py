"""Modules that need an extra which is not installed are left out, and so are their examples."""

from importlib.util import find_spec

NEEDS = {"gest_api": ("gest.py", "vocs.py"), "optuna": ("optuna/*.py",), "xopt": ("xopt.py",)}

collect_ignore_glob = [
    f"src/equipoise/integrations/{module}"
    for extra, modules in NEEDS.items()
    if find_spec(extra) is None
    for module in modules
]
if any(find_spec(name) is None for name in ("jinja2", "starlette", "uvicorn")):
    collect_ignore_glob += ["src/equipoise/web/*.py", "tests/web/*"]
