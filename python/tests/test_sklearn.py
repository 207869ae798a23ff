"""Scikit-learn's own checks of estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from linkproof import GraphEmbedding
from linkproof._features import read_matrix


class OnARing(GraphEmbedding):
    """The estimator with links of its own making, in a ring, so that the checks,
    which know data vectors and labels but no graph, can run."""

    def fit(self, X: Any, y: Any = None) -> OnARing:
        n = read_matrix(X).shape[0]
        ring = np.column_stack([np.arange(n), (np.arange(n) + 1) % n])
        super().fit(X, ring[: n if n > 2 else n - 1])
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        # The estimator's own calls fit with links.
        return self.fit(X).transform(X)


NO_SCORE = "our `score` is a parameter, the name of a score; the check calls it as a method"
NO_GRAPH = "a graph is required, and the check has none: it calls fit with labels, or without any"

NO_KEYWORD = "the check hands over `removed`, whose only use is to refuse keywords of the past"

ON_A_RING = {
    "check_do_not_raise_errors_in_init_or_set_params": NO_KEYWORD,
    "check_fit_score_takes_y": NO_SCORE,
    "check_n_features_in_after_fitting": NO_SCORE,
    "check_pipeline_consistency": NO_SCORE,
}
ITSELF = {
    "check_do_not_raise_errors_in_init_or_set_params": NO_KEYWORD,
    **dict.fromkeys(
        [
            "check_dict_unchanged",
            "check_dont_overwrite_parameters",
            "check_dtype_object",
            "check_estimator_sparse_tag",
            "check_estimators_dtypes",
            "check_estimators_fit_returns_self",
            "check_estimators_nan_inf",
            "check_estimators_overwrite_params",
            "check_estimators_pickle",
            "check_f_contiguous_array_estimator",
            "check_fit2d_1feature",
            "check_fit2d_1sample",
            "check_fit2d_predict1d",
            "check_fit_check_is_fitted",
            "check_fit_idempotent",
            "check_fit_score_takes_y",
            "check_methods_sample_order_invariance",
            "check_methods_subset_invariance",
            "check_n_features_in",
            "check_n_features_in_after_fitting",
            "check_pipeline_consistency",
            "check_positive_only_tag_during_fit",
            "check_readonly_memmap_input",
            "check_transformer_data_not_an_array",
            "check_transformer_general",
            "check_transformer_preserve_dtypes",
        ],
        NO_GRAPH,
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "cannot_apply"),
    [
        (OnARing(dim=2, steps=5, verbose=False), ON_A_RING),
        (GraphEmbedding(dim=2, steps=5, verbose=False), ITSELF),
    ],
)
def test_checks_of_estimators(estimator: Any, cannot_apply: dict[str, str]) -> None:
    results = check_estimator(
        estimator, expected_failed_checks=cannot_apply, on_fail=None, on_skip=None
    )
    failed = {result["check_name"]: result["exception"] for result in results
              if result["status"] == "failed"}  # fmt: skip
    assert not failed
    assert sum(result["status"] == "passed" for result in results) >= 15
    # Each that is listed as one that cannot apply does fail.
    expected = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert expected == set(cannot_apply)
