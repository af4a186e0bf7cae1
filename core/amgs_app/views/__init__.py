"""The views of wings: the commands of each, its results, and how they are shown. What a wing brings stands in its
`__init__.py` as a `WingView`; the rest of the application asks `amgs_app.wing_views` for it.
"""
