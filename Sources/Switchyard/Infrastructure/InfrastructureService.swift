/// A service that has a client. Providers make the first four; the others use the chosen storage unless they are pinned.
public enum InfrastructureService: String, Sendable, Hashable, Codable, CaseIterable, CustomStringConvertible {
    case auth, storage, files, messaging
    case users, contacts, checkIns, notifications

    public static let core: [InfrastructureService] = [.auth, .storage, .files, .messaging]
    public static let domain: [InfrastructureService] = [.users, .contacts, .checkIns, .notifications]

    public var isCore: Bool { InfrastructureService.core.contains(self) }
    public var description: String { rawValue }
}
