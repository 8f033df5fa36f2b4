/// Which provider each client uses.
///
/// ```swift
/// var selection = InfrastructureSelection(default: .acme)
/// selection.storage = .globex            // documents there, everything else here
/// selection.omit(.messaging)             // no client at all
/// ```
///
/// A domain client follows its storage. Naming a provider for one pins it: its documents then live on that provider's
/// storage, with the selected auth.
public struct InfrastructureSelection: Sendable, Hashable {
    /// The provider of every core client that has no explicit choice.
    public var `default`: InfrastructureProvider
    private var chosen: [InfrastructureService: InfrastructureProvider] = [:]
    public private(set) var omitted: Set<InfrastructureService> = []

    public init(default: InfrastructureProvider) { self.default = `default` }

    /// The explicit choice for `service`; `nil` leaves it to the default, or, for a domain client, to the storage.
    public subscript(service: InfrastructureService) -> InfrastructureProvider? {
        get { chosen[service] }
        set {
            chosen[service] = newValue
            omitted.remove(service)
        }
    }

    /// Leaves out the client for `service`: its calls throw `.unsupported`, and no module is asked for one. A configuration
    /// file says the same with `"none"`: `"clients": { "files": "none" }`. Choosing a provider brings the client back;
    /// setting the choice to `nil` uses the default.
    ///
    /// Auth and storage cannot be omitted, since everything else needs them; omitting them has no effect.
    public mutating func omit(_ service: InfrastructureService) {
        guard service == .files || service == .messaging else { return }
        chosen[service] = nil
        omitted.insert(service)
    }

    public var auth: InfrastructureProvider? {
        get { self[.auth] }
        set { self[.auth] = newValue }
    }
    public var storage: InfrastructureProvider? {
        get { self[.storage] }
        set { self[.storage] = newValue }
    }
    public var files: InfrastructureProvider? {
        get { self[.files] }
        set { self[.files] = newValue }
    }
    public var messaging: InfrastructureProvider? {
        get { self[.messaging] }
        set { self[.messaging] = newValue }
    }
    public var users: InfrastructureProvider? {
        get { self[.users] }
        set { self[.users] = newValue }
    }
    public var contacts: InfrastructureProvider? {
        get { self[.contacts] }
        set { self[.contacts] = newValue }
    }
    public var checkIns: InfrastructureProvider? {
        get { self[.checkIns] }
        set { self[.checkIns] = newValue }
    }
    public var notifications: InfrastructureProvider? {
        get { self[.notifications] }
        set { self[.notifications] = newValue }
    }

    /// The resulting provider for `service`; `nil` if it is omitted.
    public func provider(for service: InfrastructureService) -> InfrastructureProvider? {
        if omitted.contains(service) { return nil }
        return chosen[service] ?? (service.isCore ? self.default : provider(for: .storage))
    }

    /// The place in a configuration that names the provider of `service`.
    func place(of service: InfrastructureService) -> [String] {
        if chosen[service] != nil { return ["clients", service.rawValue] }
        return service.isCore ? ["default"] : place(of: .storage)
    }

    /// All providers that the selection uses.
    var providers: Set<InfrastructureProvider> {
        Set(InfrastructureService.allCases.compactMap { provider(for: $0) })
    }
}
