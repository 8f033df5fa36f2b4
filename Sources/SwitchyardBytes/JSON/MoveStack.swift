/// A stack whose top part can be moved out as an array, without reference counting.
///
/// Unsafe inside, with one invariant: exactly the first `count` places of `storage` are initialized.
struct MoveStack<Element>: ~Copyable {
    private var storage: UnsafeMutablePointer<Element>
    private var capacity: Int
    private(set) var count = 0

    init(minimumCapacity: Int = 16) {
        capacity = minimumCapacity
        storage = .allocate(capacity: minimumCapacity)
    }

    deinit {
        storage.deinitialize(count: count)
        storage.deallocate()
    }

    @inline(__always)
    mutating func push(_ element: consuming Element) {
        if count == capacity { grow() }
        (storage + count).initialize(to: element)
        count += 1
    }

    /// The topmost element; there must be one.
    @inline(__always)
    var last: Element {
        _read {
            precondition(count > 0)
            yield storage[count - 1]
        }
        _modify {
            precondition(count > 0)
            yield &storage[count - 1]
        }
    }

    subscript(index: Int) -> Element {
        _read {
            precondition(index >= 0 && index < count)
            yield storage[index]
        }
    }

    /// Removes the elements from `start` on and returns them in order.
    mutating func pop(from start: Int) -> [Element] {
        precondition(start >= 0 && start <= count)
        let removed = count - start
        count = start
        let source = storage + start
        // The type of a literal's storage is known at compile time; other arrays look it up at run time.
        switch removed {
        case 0: return []
        case 1: return [source.move()]
        case 2: return [source.move(), (source + 1).move()]
        case 3: return [source.move(), (source + 1).move(), (source + 2).move()]
        default:
            return [Element](unsafeUninitializedCapacity: removed) { target, initialized in
                target.baseAddress!.moveInitialize(from: source, count: removed)
                initialized = removed
            }
        }
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: storage, count: count)
        storage.deallocate()
        storage = larger
        capacity *= 2
    }
}
