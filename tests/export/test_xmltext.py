"""Surgical XML: what is not named stays byte for byte."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import SurefootError
from surefoot.export.xmltext import Document, number

TEXT = (
    b"""<?xml version="1.0"?>\r\n<!-- top > -->\r\n<a   x = '1>2'\ty="&lt;3">\r\n"""
    b"""\t<b/>  <!-- kept -->\r\n\t<c k="v" />\r\n</a>\r\n"""
)


def test_a_document_without_changes_is_the_same_bytes():
    """Reading and writing change nothing, not even line ends, tabs and spaces around equal signs."""
    assert Document(TEXT, "t").render() == TEXT


def test_an_attribute_changes_between_its_own_quotes():
    """Only the text between the quotes is another; a '>' inside a value does not end the tag."""
    d = Document(TEXT, "t")
    d.root.set("x", "5")
    assert d.render() == TEXT.replace(b"'1>2'", b"'5'")


def test_a_new_attribute_stands_behind_the_last_one():
    """The space before '/>' is kept behind the new attribute."""
    d = Document(TEXT, "t")
    d.root.children[1].set("n", 'a"<')
    assert b'<c k="v" n="a&quot;&lt;" />' in d.render()
    assert ET.fromstring(d.render())[1].get("n") == 'a"<'


def test_an_attribute_can_be_removed_and_a_tag_renamed():
    """Both tags of an element get its new name."""
    d = Document(b'<r><p q="1" s="2">t</p></r>', "t")
    d.root.children[0].set("q", None)
    d.root.children[0].renamed = "g"
    assert d.render() == b'<r><g s="2">t</g></r>'


def test_children_are_added_on_lines_of_their_own_with_the_files_line_ends():
    """An element that was closed in itself opens; indentation follows the file."""
    d = Document(TEXT, "t")
    d.root.children[0].added.append("<new/>")
    d.root.added.append("<last/>")
    assert b"\t<b>\r\n\t\t<new/>\r\n\t</b>  <!-- kept -->" in d.render()
    assert d.render().endswith(b'<c k="v" />\r\n\t<last/>\r\n</a>\r\n')


def test_a_comment_with_the_same_marker_is_replaced_and_never_breaks_the_xml():
    """Two exports leave one comment; double hyphens, which XML forbids in comments, are taken apart."""
    once = Document(TEXT, "t")
    once.comment(["one --flag"], "mine")
    twice = Document(once.render(), "t")
    twice.comment(["two"], "mine")
    ET.fromstring(once.render())
    assert twice.render().count(b"<!-- mine") == 1
    assert b"one" not in twice.render()
    assert b"top >" in twice.render()


def test_text_that_is_not_xml_is_refused_with_its_name():
    """The error names the file."""
    with pytest.raises(SurefootError, match=r"robot\.xml is not XML"):
        Document(b"<a><b></a>", "robot.xml")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_as_the_same_double(x: float):
    """No digit that matters is lost."""
    assert float(number(x)) == x
