"""Views of the wings: their commands, results and tables. A wing's contribution is the `WingView` in its `__init__.py`;
the application gets it from `amgs_app.wing_views`.
"""
