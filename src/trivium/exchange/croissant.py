"""Croissant 1.1 metadata of an exported dataset, for mlcroissant and dataset search."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from trivium import __version__
from trivium.exchange.export import COLUMNS

TYPES = {"string": "sc:Text", "json": "sc:Text", "int64": "cr:Int64", "float64": "cr:Float64"}
LICENSE = "https://spdx.org/licenses/MIT.html"
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "name": {"@container": "@language"},
    "description": {"@container": "@language"},
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}
PLAIN = """arrayShape citeAs column containedIn equivalentProperty extract field fileObject
fileProperty fileSet format includes isArray isLiveDataset jsonPath key md5 parentField path
recordSet references regex repeated replace samplingRate separator source subField transform"""
CONTEXT |= {name: f"cr:{name}" for name in PLAIN.split()}


def croissant(name: str, about: str, shards: Mapping[str, str]) -> dict[str, Any]:
    """The metadata of a dataset; `shards` are the SHA-256 of its Parquet files, by path."""
    files = [
        {
            "@type": "cr:FileObject",
            "@id": path.rpartition("/")[2],
            "name": path.rpartition("/")[2],
            "contentUrl": path,
            "encodingFormat": "application/x-parquet",
            "sha256": digest,
        }
        for path, digest in shards.items()
    ]
    shard_set = {
        "@type": "cr:FileSet",
        "@id": "shards",
        "name": "shards",
        "encodingFormat": "application/x-parquet",
        "includes": "data/*.parquet",
    }
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": name,
        "description": about,
        "license": LICENSE,
        "version": ".".join(__version__.split(".")[:3]),
        "datePublished": time.strftime("%Y-%m-%d"),
        "creator": {"@type": "sc:Organization", "name": "Trivium"},
        "citeAs": f"Trivium {__version__}, {name}",
        "keywords": ["reasoning", "benchmark", "synthetic"],
        "isLiveDataset": False,
        "distribution": [*files, shard_set],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "items",
                "name": "items",
                "description": "One row for each prompt.",
                "key": {"@id": "items/id"},
                "field": [_field(column) for column in COLUMNS],
            }
        ],
    }


def _field(column: str) -> dict[str, Any]:
    kind, about = COLUMNS[column]
    return {
        "@type": "cr:Field",
        "@id": f"items/{column}",
        "name": column,
        "description": f"{about} (JSON)" if kind == "json" else about,
        "dataType": TYPES[kind],
        "source": {"fileSet": {"@id": "shards"}, "extract": {"column": column}},
    }
