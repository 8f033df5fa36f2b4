/// A change to one field that the server computes from its current value.
public struct FieldTransform: Sendable, Hashable {
    public let field: FieldPath
    public let operation: Operation

    public init(_ field: FieldPath, _ operation: Operation) {
        self.field = field
        self.operation = operation
    }

    public enum Operation: Sendable, Hashable {
        /// The time at which the server commits the write.
        case serverTime
        /// Adds a number. A field that is missing or not a number becomes the operand; whole numbers stop at their limits.
        case increment(Number)
        /// The larger of the field and the operand; the operand if the field is missing or not a number.
        case maximum(Number)
        /// The smaller of the field and the operand; the operand if the field is missing or not a number.
        case minimum(Number)
        /// Appends the elements that the array lacks; anything other than an array counts as an empty one.
        case arrayUnion([DocumentValue])
        /// Removes every occurrence of the elements; anything other than an array becomes an empty one.
        case arrayRemove([DocumentValue])

        /// Whether applying it twice has the same effect as applying it once.
        package var isIdempotent: Bool {
            switch self {
            case .increment: false
            case .serverTime, .maximum, .minimum, .arrayUnion, .arrayRemove: true
            }
        }
    }

    public enum Number: Sendable, Hashable, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
        case integer(Int64)
        case double(Double)

        public init(integerLiteral value: Int64) { self = .integer(value) }
        public init(floatLiteral value: Double) { self = .double(value) }

        package var value: DocumentValue {
            switch self {
            case .integer(let value): .integer(value)
            case .double(let value): .double(value)
            }
        }
    }
}

extension FieldTransform.Operation {
    /// The field's value afterwards.
    ///
    /// - Parameter serverTime: The time of the commit, or this device's estimate of it.
    package func applied(to old: DocumentValue?, serverTime: Timestamp) -> DocumentValue {
        switch self {
        case .serverTime: return .timestamp(serverTime)
        case .increment(let operand):
            switch (old, operand) {
            case (.integer(let left), .integer(let right)):
                let (sum, overflow) = left.addingReportingOverflow(right)
                return .integer(overflow ? (right > 0 ? .max : .min) : sum)
            case (.integer(let left), .double(let right)): return .double(Double(left) + right)
            case (.double(let left), .integer(let right)): return .double(left + Double(right))
            case (.double(let left), .double(let right)): return .double(left + right)
            default: return operand.value
            }
        case .maximum(let operand): return extreme(of: old, and: operand.value, wins: .after)
        case .minimum(let operand): return extreme(of: old, and: operand.value, wins: .before)
        case .arrayUnion(let elements):
            var array = old?.arrayValue ?? []
            for element in elements where !array.contains(where: { $0.isSame(as: element) }) { array.append(element) }
            return .array(array)
        case .arrayRemove(let elements):
            let array = old?.arrayValue ?? []
            return .array(array.filter { own in !elements.contains { $0.isSame(as: own) } })
        }
    }

    /// Of equal numbers, the stored one stays; NaN wins on either side.
    private func extreme(of old: DocumentValue?, and operand: DocumentValue, wins: Ordering) -> DocumentValue {
        guard let old, old.typeOrder == operand.typeOrder else { return operand }
        if case .double(let number) = old, number.isNaN { return old }
        if case .double(let number) = operand, number.isNaN { return operand }
        return operand.ordering(to: old) == wins ? operand : old
    }
}
