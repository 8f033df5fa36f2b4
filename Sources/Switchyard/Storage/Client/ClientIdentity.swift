/// Which client something belongs to: handles of one place are equal if their clients have the same identity.
///
/// A wrapper is the client that it wraps, and a client of an ``Infrastructure`` stays the same when its provider is switched.
public struct ClientIdentity: Sendable, Hashable {
    private let object: ObjectIdentifier

    /// That of an object, for as long as it lives.
    public init(_ object: any AnyObject) { self.object = ObjectIdentifier(object) }

    /// One that all values of a type share.
    public init(of type: Any.Type) { object = ObjectIdentifier(type) }
}

extension StorageClient {
    public var identity: ClientIdentity {
        guard Self.self is AnyObject.Type else { return ClientIdentity(of: Self.self) }
        return ClientIdentity(self as AnyObject)
    }
}

extension Route {
    /// That of the client, or of the switchboard in front of the clients.
    func identity(_ ofClient: (Client) -> ClientIdentity) -> ClientIdentity {
        switch kind {
        case .direct(let connection): ofClient(connection.client)
        case .switched(let board): ClientIdentity(board)
        case .refusing: ClientIdentity(of: Self.self)
        }
    }
}
