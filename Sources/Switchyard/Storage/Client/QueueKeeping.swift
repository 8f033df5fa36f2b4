/// A storage client that knows whether what it has queued outlasts the process.
package protocol QueueKeeping: Sendable {
    var keepsQueueOnDisk: Bool { get }
}
