package import Switchyard

/// The stored state of a target, so that listening again resumes where it ended.
package struct TargetRecord: Sendable, Equatable {
    package let target: WatchTarget
    /// Even; never used again for another target.
    package let id: Int
    /// When the target was last used, as a storage transaction number.
    package var sequenceNumber: Int64
    /// The token to resume the stream; empty if it cannot be resumed.
    package var resumeToken: [UInt8]
    /// The snapshot version of `resumeToken` and of the confirmed keys.
    package var version: Timestamp
    /// The last snapshot at which the local result was known to be the server's.
    package var lastLimboFreeVersion: Timestamp
    /// Whether the server decides the results, so that the confirmed keys are shown whatever the local evaluator says.
    package var isDecided: Bool

    package init(
        target: WatchTarget, id: Int, sequenceNumber: Int64, resumeToken: [UInt8] = [], version: Timestamp = .never,
        lastLimboFreeVersion: Timestamp = .never, isDecided: Bool = false
    ) {
        self.target = target
        self.id = id
        self.sequenceNumber = sequenceNumber
        self.resumeToken = resumeToken
        self.version = version
        self.lastLimboFreeVersion = lastLimboFreeVersion
        self.isDecided = isDecided
    }
}
