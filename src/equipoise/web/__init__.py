"""The operator's page: `equipoise serve study.jsonl`.

room          what it does
tokens        who may change a study, who may watch it
guard         what is refused before any page sees it
forms         what a form says
station       a study that is served: its optimizer, its times, its trials
actions       what people do with it beside measuring
notices       what the user should know, in sentences
now, known    what the screen shows, as plain records
context_page  contexts, which people fill in before a setting is handed out
pair_page     two settings to be judged
svg, traces   charts
pages         the routes; `confirming` and `downloads` have those beside the screen
streaming     changes, sent to every screen
automatic     a program measures by itself
simulator     an instrument for newcomers
studies       those of a file or folder
server        all of it, behind a socket
"""

try:
    from equipoise.web.server import Binding, serve
    from equipoise.web.tokens import Tokens
except ImportError as error:
    raise ImportError(f'the page needs more packages: pip install "equipoise[web]" ({error})') from error

__all__ = ["Binding", "Tokens", "serve"]
