/// How far a live move has come. Every device learns it from the control document.
public enum MovePhase: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
    /// Nothing has begun. The old side serves, and each write is logged there.
    case idle
    /// Everything is copied. The old side serves; what is written meanwhile is in its log.
    case copy
    /// The old side serves, and each write is carried to the new side right after.
    case dualWrite = "dual-write"
    /// As before, and a sample of the reads is compared with the new side.
    case shadowRead = "shadow-read"
    /// The new side serves, and each write is carried to the old side right after.
    case cutOver = "cut-over"
    /// The new side serves alone. There is no way back.
    case done

    /// The side that apps read from and write to.
    public var serving: MoveSide { self < .cutOver ? .old : .new }

    public static func < (left: MovePhase, right: MovePhase) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// `nil` for the last.
    public var next: MovePhase? { Self.allCases.first { $0 > self } }
    /// The phase that ``LiveMove/goBack()`` leads to; `nil` where there is no way back.
    public var previous: MovePhase? {
        switch self {
        case .idle, .done: nil
        case .copy, .dualWrite: .idle
        case .shadowRead: .dualWrite
        case .cutOver: .shadowRead
        }
    }
}

/// One of the two backends of a live move.
public enum MoveSide: String, Sendable, Hashable, Codable, CaseIterable {
    case old, new

    var other: MoveSide { self == .old ? .new : .old }
}

/// A value for each side.
struct Sides<Value> {
    var old: Value
    var new: Value

    subscript(side: MoveSide) -> Value {
        get { side == .old ? old : new }
        set { if side == .old { old = newValue } else { new = newValue } }
    }
}

extension Sides: Sendable where Value: Sendable {}
