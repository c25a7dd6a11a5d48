"""Numbers to one HTML page that needs no network: what a fit says, drawn so that it can be judged at a glance."""

from surefoot.report.fit import fit_content
from surefoot.report.fits import fits_content
from surefoot.report.page import html, write
from surefoot.report.run import run_content
from surefoot.report.training import training_content

__all__ = ["fit_content", "fits_content", "html", "run_content", "training_content", "write"]
