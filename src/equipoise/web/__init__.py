"""The operator's page: `equipoise serve study.jsonl`.

module      what it does
tokens      who may change a study, who may watch it
guard       what is refused before any page sees it
forms       fields as they were sent, and the one form by which any question is answered
judging     how pairs are judged, and what shows their settings
now         what is to be done now, the open question above all, as a plain record
known       what is known, computed panel by panel
panels      the panels: the best setting, charts, trials, notes; your own panel is one more
station     a study that is served: its optimizer, its deferred fits
actions     what a form may do with it
pages       the screen; `beside` has the pages and files beside it, `beginning` the form of a new study
streaming   changes, sent to every screen
means       what a server has besides the study: a goal, what sets the machine
automatic   a program measures by itself
studies     those of a file or folder; `folder` has the list, renaming and archiving
alarms      what somebody should look at, and who is told
server      all of it, behind a socket
"""

try:
    from equipoise.web.beginning import begin_demo as begin_demo
    from equipoise.web.known import PagePanel, View
    from equipoise.web.means import Means
    from equipoise.web.means import Target as Target
    from equipoise.web.now import Sitting as Sitting
    from equipoise.web.panels import PANELS
    from equipoise.web.server import Binding, serve
    from equipoise.web.server import Server as Server
    from equipoise.web.server import measuring as measuring
    from equipoise.web.studies import Studies as Studies
    from equipoise.web.tokens import Tokens
except ImportError as error:
    raise ImportError(f'the page needs more packages: pip install "equipoise[web]" ({error})') from error

__all__ = ["PANELS", "Binding", "Means", "PagePanel", "Tokens", "View", "serve"]
