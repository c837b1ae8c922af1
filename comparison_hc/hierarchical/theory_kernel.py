"""The theory of 4K–AL by its former name: theorem 2 is `theory_kernel_active`, theorem 3 `theory_kernel_passive`."""

from .theory_answers import active_gap as active_gap
from .theory_kernel_active import active_constant as active_constant
from .theory_kernel_active_proof import C_THEOREM_2 as C_THEOREM_2
from .theory_kernel_passive import passive_constant as passive_constant
from .theory_kernel_passive_proof import C_THEOREM_3 as C_THEOREM_3
