/// The writes in the queue of a client.
public struct UnsentWrites: Sendable, Hashable {
    /// How many there are: of all users if they would be lost with the client, else of the current user.
    public let count: Int
    /// Whether they outlast the client. Then they are sent when its provider is chosen again.
    public let isOnDisk: Bool

    public init(count: Int, isOnDisk: Bool) {
        self.count = count
        self.isOnDisk = isOnDisk
    }
}
