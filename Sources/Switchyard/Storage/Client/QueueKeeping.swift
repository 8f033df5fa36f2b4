/// A storage client that knows what it has queued, and whether that outlasts the process.
package protocol QueueKeeping: Sendable {
    var keepsQueueOnDisk: Bool { get }
    /// How many writes everybody who has used the client has queued, as far as they would be lost with it; `nil` where
    /// nothing would be.
    var writeCountInMemory: Int? { get async }
}
