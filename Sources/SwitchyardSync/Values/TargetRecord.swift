package import Switchyard

/// What is stored of a target, so that listening to it again resumes where it ended.
package struct TargetRecord: Sendable, Equatable {
    package let target: WatchTarget
    /// Even; never used again for another target.
    package let id: Int
    /// When the target was last in use, in the count of storage transactions.
    package var sequenceNumber: Int64
    /// Where the stream can be taken up again; empty when it cannot.
    package var resumeToken: [UInt8]
    /// The snapshot that `resumeToken` belongs to, and that the confirmed keys show.
    package var version: Timestamp
    /// The last snapshot at which the local result was known to be the server's.
    package var lastLimboFreeVersion: Timestamp

    package init(
        target: WatchTarget, id: Int, sequenceNumber: Int64, resumeToken: [UInt8] = [], version: Timestamp = .never,
        lastLimboFreeVersion: Timestamp = .never
    ) {
        self.target = target
        self.id = id
        self.sequenceNumber = sequenceNumber
        self.resumeToken = resumeToken
        self.version = version
        self.lastLimboFreeVersion = lastLimboFreeVersion
    }
}
