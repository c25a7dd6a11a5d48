"""The paper's single drive: its bench, its tables and its figures."""
