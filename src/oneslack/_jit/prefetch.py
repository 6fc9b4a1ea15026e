"""Ask for the weights of the next row while this one is computed: a gather from a table larger than the
caches waits for memory, and the processor does not look far enough ahead by itself."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .compiler import overload, register_jitable

#: Smaller tables lie in a cache anyway.
LARGE = 1 << 17
#: Bytes that come together.
LINE = 64


@intrinsic
def _prefetch(typing_context, array, place):
    """Hint that array's memory at flat place `place` will be read soon."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(8).as_pointer())
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag])
        hint = builder.module.declare_intrinsic("llvm.prefetch", (address.type,), kind)
        builder.call(hint, [address, flag(0), flag(3), flag(1)])  # to read, keep in all caches, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@register_jitable
def _csr_ask(X, i, W):
    _, indices, indptr = X
    if W.size < LARGE or i + 1 >= indptr.shape[0]:
        return
    width = W.shape[1]
    line = LINE // W.itemsize
    for k in range(indptr[i], indptr[i + 1]):
        first = int(indices[k]) * width
        for z in range(0, width, line):
            _prefetch(W, first + z)


@register_jitable
def _dense_ask(X, i, W):
    return


def ask_for_row(X, i, W):
    """Start to fetch the rows of W (d, K) that row i needs; nothing where there is no row i."""


@overload(ask_for_row)
def _ask_for_row(X, i, W):
    return _csr_ask if len(X) == 3 else _dense_ask
