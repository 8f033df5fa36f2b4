import Foundation
import Switchyard
import Synchronization

/// The bytes of an upload, part by part. Used by one transfer, one call after the other.
final class UploadParts: Sendable {
    /// The file it comes from, if it does.
    let file: URL?
    let total: Int64?
    private let partSize: Int
    private let pump: Pump?
    private let data: Data
    private let offset = Mutex(0)

    init(_ source: UploadSource, partSize: Int) throws(FileStorageError) {
        self.partSize = partSize
        switch source {
        case .data(let data): (self.data, total, file, pump) = (data, Int64(data.count), nil, nil)
        case .file(let url):
            do {
                data = try Data(contentsOf: url)
            } catch {
                throw FileStorageError(.localFile, "The file to upload cannot be read.", underlying: error)
            }
            (total, file, pump) = (Int64(data.count), url, nil)
        case .stream(let length, let make):
            (data, total, file, pump) = (Data(), length, nil, Pump(make))
        }
    }

    /// How many bytes have been handed out.
    var position: Int64 { Int64(offset.withLock { $0 }) }

    func skip(_ count: Int) { offset.withLock { $0 += count } }

    func hasPrefix(_ bytes: Data) -> Bool { data.starts(with: bytes) }

    /// The next part; `nil` at the end.
    func next() async throws(FileStorageError) -> Data? {
        if let pump {
            guard let part = try await pump.next() else { return nil }
            offset.withLock { $0 += part.count }
            return part
        }
        return offset.withLock { offset in
            guard offset < data.count else { return nil }
            let start = data.startIndex + offset
            let part = data[start..<min(start + partSize, data.endIndex)]
            offset += part.count
            return part
        }
    }

    /// Draws from somebody's sequence, of which only one task may hold the iterator.
    private actor Pump {
        private let make: @Sendable () -> any AsyncSequence<Data, any Error>
        private var parts: AsyncThrowingStream<Data, any Error>.Iterator?

        init(_ make: @escaping @Sendable () -> any AsyncSequence<Data, any Error>) { self.make = make }

        func next() async throws(FileStorageError) -> Data? {
            var iterator = parts ?? start()
            do {
                let part = try await iterator.next(isolation: self)
                parts = iterator
                return part
            } catch {
                throw FileStorageError(
                    error is CancellationError ? .cancelled : .localFile, "The bytes to upload ended with a failure.",
                    underlying: error)
            }
        }

        private func start() -> AsyncThrowingStream<Data, any Error>.Iterator {
            let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
            let make = make
            let task = Task {
                do {
                    for try await part in make() { continuation.yield(part) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
            return stream.makeAsyncIterator()
        }
    }
}
