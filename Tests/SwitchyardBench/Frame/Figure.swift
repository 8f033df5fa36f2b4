/// One measured number and its expected bound.
struct Figure: Codable, Sendable {
    /// The bound that a figure must meet.
    enum Mark: Hashable, Sendable {
        case atLeast(Double)
        case atMost(Double)
    }

    let name: String
    let value: Double
    let unit: String
    let mark: Mark?

    /// - Parameter mark: Omit it for a figure that is only context, such as another contender's.
    init(_ name: String, _ value: Double, _ unit: String, _ mark: Mark? = nil) {
        self.name = name
        self.value = value
        self.unit = unit
        self.mark = mark
    }

    enum Verdict: String, Codable, Sendable {
        case met, missed
        /// A quick run is too short to say that a mark is missed.
        case unmeasured
    }

    /// `nil` without a mark. NaN misses every mark.
    func verdict(isQuick: Bool) -> Verdict? {
        let isMet: Bool
        switch mark {
        case nil: return nil
        case .atLeast(let bound): isMet = value >= bound
        case .atMost(let bound): isMet = value <= bound
        }
        return isMet ? .met : isQuick && value.isFinite ? .unmeasured : .missed
    }
}

extension Figure.Mark: Codable {
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        if let bound = try values.decodeIfPresent(Double.self, forKey: .atLeast) {
            self = .atLeast(bound)
        } else {
            self = .atMost(try values.decode(Double.self, forKey: .atMost))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        switch self {
        case .atLeast(let bound): try values.encode(bound, forKey: .atLeast)
        case .atMost(let bound): try values.encode(bound, forKey: .atMost)
        }
    }

    private enum Key: String, CodingKey { case atLeast, atMost }
}
