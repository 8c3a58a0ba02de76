// Short names of kernels and calls: the demangled function and the operations among its template arguments, without
// the versions that CUPTI appends to calls.

const names = new Map<string, string>();
const DULL = /^(?:at|native|detail|std|c10|cuda|thrust|cub|cutlass|internal|impl|array|CUDAGeneratorState|TensorInfo|OffsetCalculator|memory|_GLOBAL__N_.*|Array|TrivialOffsetCalculator|LoadWithoutCast|StoreWithoutCast|function_traits|lambda.*|tuple|type_identity)$/;

interface Read { name: string; at: number }

// Reads a mangled name with its length before it, "2at"; null if there is none.
function sourceName(text: string, at: number): Read | null {
	const digits = /^[0-9]+/.exec(text.slice(at, at + 6))?.[0];
	const start = at + (digits?.length ?? 0);
	const length = Number(digits);

	return digits && length > 0 && start + length <= text.length ? { name: text.slice(start, start + length), at: start + length } : null;
}

// Returns the operations in template arguments: names except namespaces and types that every kernel has.
function operations(text: string): string[] {
	const found: string[] = [];

	for (let at = 0; at < text.length;) {
		const read = sourceName(text, at);

		if (!read) {
			at++;
			continue;
		}
		if (!DULL.test(read.name) && /[A-Za-z]{3}/.test(read.name) && !found.includes(read.name))
			found.push(read.name);
		at = read.at;
	}
	return found;
}

function demangle(mangled: string): string | null {
	const parts: string[] = [];
	let at = mangled.startsWith("_ZN") ? 3 : mangled.startsWith("_Z") ? 2 : -1;

	if (at < 0)
		return null;
	const nested = at === 3;

	for (; at < mangled.length; ) {
		const read = sourceName(mangled, at);

		if (read) {
			parts.push(read.name);
			at = read.at;
			if (!nested)
				break;
		} else if (/^[KVrR]/.test(mangled[at])) {
			at++;
		} else {
			break;
		}
	}
	const named = parts.filter((part) => !part.startsWith("_GLOBAL__N_"));
	const last = named.pop();

	if (last === undefined)
		return null;
	const inside = mangled[at] === "I" ? operations(mangled.slice(at + 1)).slice(0, 2) : [];
	const scope = named.filter((part) => part !== "at" && part !== "native");

	return `${[...scope, last].join("::")}${inside.length ? `<${inside.join(", ")}>` : ""}`;
}

export function kernelName(name: string): string {
	let known = names.get(name);

	if (known === undefined) {
		known = name.startsWith("_Z") ? demangle(name) ?? name : /^cu/.test(name) ? name.replace(/_v[0-9]{4,6}$/, "").replace(/_ptsz$/, "") : name;
		names.set(name, known);
	}
	return known;
}
