"""Rarer settings in option objects, as scikit-learn reaches them; refusals of old keywords."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import Pipeline

import linkproof
from linkproof import GraphEmbedding, Inputs, Network, Search, Sgd

SMALL_STEPS = Sgd(learning_rate=1e-5)
BY_STEPS: dict[str, Any] = {"solver": "exact", "optimizer": "sgd", "steps": 5, "verbose": False}


def test_the_constructor_has_few_arguments() -> None:
    named = [
        parameter
        for parameter in inspect.signature(GraphEmbedding).parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]
    assert len(named) <= 25


def test_clones_have_the_same_options() -> None:
    model = GraphEmbedding(3, sgd=Sgd(momentum=0.5), network=Network(hidden=(4, 5)))
    again = clone(model)
    assert again is not model and again.get_params() == model.get_params()
    assert again.set_params(sgd__momentum=0.7).sgd == Sgd(momentum=0.7)
    assert model.sgd == Sgd(momentum=0.5)
    assert clone(GraphEmbedding()).sgd is None


def test_get_params_reaches_into_options() -> None:
    params = GraphEmbedding(inputs=Inputs(walks=2)).get_params()
    assert params["inputs__walks"] == 2 and params["sgd__momentum"] == 0.9
    assert params["network__hidden"] == (3000,)
    shallow = GraphEmbedding().get_params(deep=False)
    assert shallow["sgd"] is None and not any("__" in name for name in shallow)
    assert "momentum" not in params and "removed" not in params


def test_set_params_replaces_options() -> None:
    shared = Sgd(block=7)
    model = GraphEmbedding(sgd=shared).set_params(sgd__momentum=0.1, sgd__clip=2.0, dim=5)
    assert model.sgd == Sgd(block=7, momentum=0.1, clip=2.0) and model.dim == 5
    assert shared == Sgd(block=7)
    model.set_params(sgd=Sgd(clip=1.0), sgd__block=3)
    assert model.sgd == Sgd(clip=1.0, block=3)
    assert model.set_params(sgd=None).sgd is None
    with pytest.raises(ValueError, match="Invalid parameter 'moment' of sgd"):
        model.set_params(sgd__moment=1)
    with pytest.raises(ValueError, match="Invalid parameter 'momentum'"):
        model.set_params(momentum=1)
    pipeline = Pipeline([("embed", GraphEmbedding())]).set_params(embed__sgd__momentum=0.2)
    assert pipeline["embed"].sgd == Sgd(momentum=0.2)


def test_a_grid_reaches_options(planted: Any) -> None:
    model = GraphEmbedding(dim=2, sgd=SMALL_STEPS, **BY_STEPS)
    found = {}
    for params in ParameterGrid({"sgd__momentum": [0.0, 0.9], "inputs__normalize": ["none"]}):
        fitted = clone(model).set_params(**params).fit(planted.X, planted.matrix)
        assert fitted.report_["params"]["momentum"] == params["sgd__momentum"]
        found[params["sgd__momentum"]] = fitted.embedding_
    assert not np.array_equal(found[0.0], found[0.9])


def test_a_grid_search_of_scikit_learn(planted: Any) -> None:
    """With a scorer of one's own, and the whole graph in each fit."""
    n = len(planted.X)
    everything = [(np.arange(n), np.arange(n))]
    rows = np.arange(n).reshape(-1, 1)

    class Whole(GraphEmbedding):
        def fit(self, X: Any, y: Any = None) -> Whole:
            super().fit(planted.X, planted.matrix)
            return self

    search = GridSearchCV(
        Whole(dim=2, sgd=SMALL_STEPS, **BY_STEPS),
        {"sgd__momentum": [0.1, 0.8]},
        scoring=lambda model, X, y=None: -model.value_,
        cv=everything,
    )
    search.fit(rows)
    assert set(search.best_params_) == {"sgd__momentum"}
    assert search.best_estimator_.sgd.momentum == search.best_params_["sgd__momentum"]


def test_options_come_back_from_a_folder(planted: Any, tmp_path: Any) -> None:
    model = GraphEmbedding(dim=2, steps=3, inputs=Inputs(propagate=1), verbose=False)
    model.fit(planted.X, planted.matrix).save(tmp_path / "m")
    loaded = GraphEmbedding.load(tmp_path / "m")
    assert loaded.inputs == Inputs(propagate=1) and loaded.sgd is None


@pytest.mark.parametrize(
    ("removed", "call"),
    [
        ({"momentum": 0.5}, "GraphEmbedding(sgd=linkproof.Sgd(momentum=0.5))"),
        (
            {"hidden": 8, "walks": 2, "dropout": 0.1},
            "GraphEmbedding(network=linkproof.Network(hidden=8, dropout=0.1), "
            "inputs=linkproof.Inputs(walks=2))",
        ),
        ({"checkpoint": "kept"}, "GraphEmbedding().fit(X, links, checkpoint='kept')"),
    ],
)
def test_old_keywords_show_the_new_call(removed: dict[str, Any], call: str) -> None:
    with pytest.raises(TypeError) as raised:
        GraphEmbedding(**removed)
    assert str(raised.value).endswith(f"any more; the call is {call}")
    with pytest.raises(TypeError, match="unexpected keyword argument 'lambda'"):
        GraphEmbedding(**{"lambda": 1})


def test_old_keywords_of_a_search_show_the_new_call(planted: Any) -> None:
    with pytest.raises(TypeError) as raised:
        linkproof.select(planted.X, planted.matrix, folds=3, ridges=[1])
    call = "select(X, links, search=linkproof.Search(ridges=[1], folds=3))"
    assert str(raised.value).endswith(f"any more; the call is {call}")
    with pytest.raises(ValueError, match=r"search must be a linkproof\.Search or None"):
        linkproof.select(planted.X, planted.matrix, search=3)
    assert Search() == Search(folds=5)
