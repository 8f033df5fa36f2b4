/// A storage client that knows its queued writes, and whether they outlast the process.
package protocol UnsentWriteStoring: Sendable {
    var keepsQueueOnDisk: Bool { get }
    /// The number of queued writes, of all users of the client, that would be lost with it; `nil` if the queue is persistent.
    var writeCountInMemory: Int? { get async }
}
