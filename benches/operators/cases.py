"""All cases by name: each a function that makes a case of random numbers."""

import cases_attention
import cases_cache
import cases_elements
import cases_experts
import cases_quantization

CASES = {}
for module in (cases_elements, cases_quantization, cases_cache, cases_experts, cases_attention):
    CASES.update(module.CASES)
