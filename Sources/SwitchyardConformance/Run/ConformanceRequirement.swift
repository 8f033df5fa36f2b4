/// Something that a provider must have, or must lack, for a check to apply.
public struct ConformanceRequirement<Features: Sendable>: Sendable {
    public let name: String
    /// Whether the requirement is that the provider does *not* declare something: then the check is about its refusal.
    public let isAbsence: Bool
    let isMet: @Sendable (Features) -> Bool
    /// Whether the provider declares it, whatever its harness can do.
    private let isDeclared: @Sendable (Features) -> Bool

    init(_ name: String, isMet: @escaping @Sendable (Features) -> Bool) {
        self.init(name, isServed: { _ in true }, isDeclared: isMet)
    }

    /// - Parameter isServed: Whether the harness supports it; if not, checks of a declared capability are skipped.
    init(
        _ name: String, isServed: @escaping @Sendable (Features) -> Bool,
        isDeclared: @escaping @Sendable (Features) -> Bool
    ) {
        self.name = name
        isAbsence = false
        isMet = { isDeclared($0) && isServed($0) }
        self.isDeclared = isDeclared
    }

    private init(absenceOf other: ConformanceRequirement) {
        name = "no " + other.name
        isAbsence = true
        isMet = { !other.isDeclared($0) }
        isDeclared = isMet
    }

    /// Met if the provider does not declare `other`.
    static func no(_ other: ConformanceRequirement) -> ConformanceRequirement {
        ConformanceRequirement(absenceOf: other)
    }
}
