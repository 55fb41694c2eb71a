"""The operator's page: `equipoise serve study.jsonl`.

module      purpose
tokens      the permission to change or watch a study
guard       the requests that are refused before any page sees them
forms       submitted fields, and the one form that answers any question
judging     how pairs are judged, and the content that shows their settings
now         the current task, above all the open question, as a plain record
known       the view of a study, computed panel by panel
panels      the panels: the best setting, charts, trials, notes; your own panel is one more
station     a study that is served: its optimizer, its deferred fits
actions     the actions of forms on a study
pages       the screen; `beside` has the pages and files beside it, `beginning` the form of a new study
streaming   changes, sent to every screen
means       the means of a server besides the study: a goal, a program that sets the machine
automatic   automatic mode: a program measures
studies     the studies of a file or folder; `folder` has the list, renaming and archiving
alarms      the events that need attention, and their notification
server      all routes, behind a socket
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
