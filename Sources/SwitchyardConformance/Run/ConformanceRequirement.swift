/// Something that a provider must have, or must lack, for a check to make sense.
public struct ConformanceRequirement<Features: Sendable>: Sendable {
    public let name: String
    /// Whether the requirement is that the provider does *not* declare something: then its refusal is what is checked.
    public let isAbsence: Bool
    let isMet: @Sendable (Features) -> Bool

    init(_ name: String, isMet: @escaping @Sendable (Features) -> Bool) {
        self.name = name
        isAbsence = false
        self.isMet = isMet
    }

    private init(absenceOf other: ConformanceRequirement) {
        name = "no " + other.name
        isAbsence = true
        isMet = { !other.isMet($0) }
    }

    /// Met where `other` is not.
    static func no(_ other: ConformanceRequirement) -> ConformanceRequirement {
        ConformanceRequirement(absenceOf: other)
    }
}
