"""Items and replies to and from other tools: exports, replies to score, dataset folders."""
