/// One statement about a client, and a test of it.
///
/// A check runs in its own namespace, so any number of them may run in parallel, even against a shared server. It cleans up
/// after itself.
///
/// ```swift
/// @Test(arguments: StorageConformance.checks(for: harness.features))
/// func storage(_ check: StorageCheck) async throws { try await check.run(on: harness) }
/// ```
public struct ConformanceCheck<Harness: Sendable, Features: Sendable>: Sendable, Identifiable {
    public let service: ConformanceService
    /// The part of the service that it is about: `"values"`, `"streams"` …
    public internal(set) var area = ""
    /// The statement that holds for a provider that passes. Unique within the service.
    public let name: String
    public let requirements: [ConformanceRequirement<Features>]
    /// How long the check may take on a busy machine.
    public let deadline: Duration
    private let body: @Sendable (Harness) async throws -> Void

    init(
        _ service: ConformanceService, _ name: String, requirements: [ConformanceRequirement<Features>],
        deadline: Duration, body: @escaping @Sendable (Harness) async throws -> Void
    ) {
        self.service = service
        self.name = name
        self.requirements = requirements
        self.deadline = deadline
        self.body = body
    }

    public var id: String { name }

    /// What a provider with these features lacks for this check; empty if the check applies.
    public func missing(in features: Features) -> [String] { unmet(in: features).map(\.name) }

    func unmet(in features: Features) -> [ConformanceRequirement<Features>] {
        requirements.filter { !$0.isMet(features) }
    }

    /// - Throws: A ``ConformanceFailure`` that says what was expected and what was found.
    public func run(on harness: Harness) async throws {
        do {
            try await body(harness)
        } catch let failure as ConformanceFailure {
            throw failure
        } catch {
            throw ConformanceFailure(expectation: "every call of the check succeeds", found: Readable.text(error))
        }
    }
}

extension ConformanceCheck: CustomStringConvertible {
    public var description: String { name }
}

extension Array {
    /// The same checks, with their area set to `area`.
    func within<Harness, Features>(_ area: String) -> [ConformanceCheck<Harness, Features>]
    where Element == ConformanceCheck<Harness, Features> {
        map { check in
            var check = check
            check.area = area
            return check
        }
    }

    /// The checks that apply to a provider with these features.
    func applicable<Harness, Features>(to features: Features) -> [ConformanceCheck<Harness, Features>]
    where Element == ConformanceCheck<Harness, Features> {
        filter { $0.missing(in: features).isEmpty }
    }

    /// The checks that are skipped because a provider with these features lacks something, in the order of the suite.
    ///
    /// Checks for the refusal of an undeclared capability are not included: having the capability is not a lack.
    func leftOut<Harness, Features>(for features: Features) -> [String]
    where Element == ConformanceCheck<Harness, Features> {
        filter { check in check.requirements.contains { !$0.isAbsence && !$0.isMet(features) } }.map(\.name)
    }
}

/// The service that checks are about.
public enum ConformanceService: String, Sendable, Hashable, Codable, CaseIterable, CustomStringConvertible {
    case storage, auth, files, messaging
    /// Users, contacts, check-ins and notifications.
    case domain
    /// Account management from a server.
    case admin
    /// Clients of several providers side by side, and moving from one to the other.
    case switching

    public var description: String { rawValue }
}

/// Something that a provider must have, or must lack, for a check to apply.
public struct ConformanceRequirement<Features: Sendable>: Sendable {
    public let name: String
    /// Whether the requirement is that the provider does *not* declare something: then the check is about its refusal.
    public let isAbsence: Bool
    /// What would enable the checks that need it: "a state folder in the configuration".
    public let remedy: String
    let isMet: @Sendable (Features) -> Bool
    /// Whether the provider declares it, whatever its harness can do.
    private let isDeclared: @Sendable (Features) -> Bool

    init(
        _ name: String, remedy: String = "a provider that supports it", isMet: @escaping @Sendable (Features) -> Bool
    ) {
        self.init(name, remedy: remedy, isServed: { _ in true }, isDeclared: isMet)
    }

    /// - Parameter isServed: Whether the harness supports it; if not, checks of a declared capability are skipped.
    init(
        _ name: String, remedy: String = "a provider that supports it",
        isServed: @escaping @Sendable (Features) -> Bool,
        isDeclared: @escaping @Sendable (Features) -> Bool
    ) {
        self.name = name
        self.remedy = remedy
        isAbsence = false
        isMet = { isDeclared($0) && isServed($0) }
        self.isDeclared = isDeclared
    }

    private init(absenceOf other: ConformanceRequirement) {
        name = "no " + other.name
        remedy = "a provider that lacks it"
        isAbsence = true
        isMet = { !other.isDeclared($0) }
        isDeclared = isMet
    }

    /// Met if the provider does not declare `other`.
    static func no(_ other: ConformanceRequirement) -> ConformanceRequirement {
        ConformanceRequirement(absenceOf: other)
    }
}
