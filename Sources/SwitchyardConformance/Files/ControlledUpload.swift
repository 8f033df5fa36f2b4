import Foundation
import Switchyard
import Synchronization

/// Bytes for an upload, controlled by the check.
final class ControlledUpload: Sendable {
    struct Burst: Error {}

    private let stream: AsyncThrowingStream<Data, any Error>
    private let continuation: AsyncThrowingStream<Data, any Error>.Continuation

    init() { (stream, continuation) = AsyncThrowingStream.makeStream() }

    func pour(_ data: Data) { continuation.yield(data) }
    func close() { continuation.finish() }
    /// Ends the stream with its own error.
    func burst() { continuation.finish(throwing: Burst()) }

    func source(length: Int64?) -> UploadSource { .stream(length: length) { [stream] in stream } }
}
