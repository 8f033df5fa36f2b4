import Foundation
package import Switchyard
import Synchronization

/// The bytes of one upload: returns any part that may still be needed, and computes checksums on the way.
///
/// Belongs to one upload, which makes one call at a time.
package final class UploadContent: Sendable {
    private enum Kind: Sendable {
        case data(Data)
        case file(SourceFile)
        case stream(SequenceReader)
    }

    private struct State {
        var digest: ContentDigest
        /// For a stream, the bytes read that may be sent again. Returned without copying, because each copying thread would
        /// retain that much memory.
        var window: [UInt8] = []
        var windowStart: Int64 = 0
        /// The previous part, whose buffer the next one reuses: the sender of the last part may still hold it.
        var previous: [UInt8] = []
        /// The bytes read beyond it.
        var ahead = Data()
        var hasEnded = false

        /// Drops the first bytes of the window.
        mutating func pass(_ count: Int) {
            guard count == window.count else { return window.removeFirst(count) }
            guard count > 0 else { return }
            swap(&window, &previous)
            window.removeAll(keepingCapacity: true)
        }

        /// Moves bytes from `ahead` into the window, as far as there are any.
        mutating func fill(upTo count: Int) {
            let taken = ahead.prefix(max(0, count - window.count))
            window.append(contentsOf: taken)
            ahead = ahead.dropFirst(taken.count)
        }
    }

    private let kind: Kind
    private let state: Mutex<State>
    package let length: Int64?

    package init(_ source: UploadSource) throws(FileStorageError) {
        switch source {
        case .data(let data): (kind, length) = (.data(data), Int64(data.count))
        case .file(let url):
            let file = try SourceFile(url)
            (kind, length) = (.file(file), file.identity.size)
        case .stream(let length, let make): (kind, self.length) = (.stream(SequenceReader(make)), length)
        }
        state = Mutex(State(digest: ContentDigest()))
    }

    /// The rest of a file whose beginning is on the server.
    ///
    /// - Throws: `.changed` if the file has changed, `.localFile` if it is not there.
    package init(resuming record: UploadRecord) throws(FileStorageError) {
        try record.source.check()
        (kind, length) = (.file(record.source), record.source.identity.size)
        state = Mutex(State(digest: ContentDigest(resuming: record.crc32c, after: record.offset)))
    }

    var file: SourceFile? { if case .file(let file) = kind { file } else { nil } }
    var canRewind: Bool { if case .stream = kind { false } else { true } }

    func cancel() { if case .stream(let pump) = kind { pump.cancel() } }

    // MARK: Parts

    /// Prepares up to `count` bytes from `offset`, fewer only at the end.
    ///
    /// - Throws: `.changed` if the file was modified, `.localFile` if it is missing or the source of the bytes fails.
    func prepare(_ offset: Int64, _ count: Int64) async throws(FileStorageError) -> (count: Int64, isEnd: Bool) {
        switch kind {
        case .data(let data): return Self.bounds(offset, count, Int64(data.count))
        case .file(let file):
            try file.check()
            return Self.bounds(offset, count, file.identity.size)
        case .stream(let pump): return try await draw(pump, offset, count)
        }
    }

    private static func bounds(_ offset: Int64, _ count: Int64, _ total: Int64) -> (count: Int64, isEnd: Bool) {
        let end = min(offset + count, total)
        return (max(end - offset, 0), end == total)
    }

    private func draw(
        _ pump: SequenceReader, _ offset: Int64, _ count: Int64
    ) async throws(FileStorageError) -> (count: Int64, isEnd: Bool) {
        let isWithin = state.withLock { state in
            let passed = offset - state.windowStart
            guard passed >= 0, passed <= Int64(state.window.count) else { return false }
            state.pass(Int(passed))
            state.windowStart = offset
            // Parts of one size reuse one buffer.
            state.window.reserveCapacity(Int(max(0, min(count, (length ?? 0) - offset))))
            state.fill(upTo: Int(count))
            return true
        }
        guard isWithin else {
            throw FileStorageError(
                .changed, "The server lost bytes that a stream cannot supply again. Upload from a file or from data.")
        }
        // One more byte than requested shows whether more follow.
        while state.withLock({ !$0.hasEnded && $0.ahead.isEmpty && Int64($0.window.count) <= count }) {
            let element: Data?
            do {
                element = try await pump.next()
            } catch {
                throw FileStorageError(
                    error is CancellationError ? .cancelled : .localFile, "The stream of bytes to upload failed.",
                    isRetryable: false, underlying: error)
            }
            if element == nil, Task.isCancelled { throw .givenUp }
            state.withLock { state in
                guard let element else { return state.hasEnded = true }
                element.withUnsafeBytes { state.digest.update($0) }
                state.ahead = element
                state.fill(upTo: Int(count))
            }
        }
        return state.withLock { state in
            let ready = min(Int64(state.window.count), count)
            return (ready, state.hasEnded && state.ahead.isEmpty && ready == Int64(state.window.count))
        }
    }

    /// The bytes of a prepared part.
    func bytes(_ offset: Int64, _ count: Int64) -> UploadBytes {
        switch kind {
        case .data(let data):
            let start = data.startIndex + Int(offset)
            return .memory([UInt8](data[start..<start + Int(count)]))
        case .file(let file): return .file(path: file.path, range: offset..<offset + count)
        case .stream:
            return state.withLock { state in
                let start = Int(offset - state.windowStart)
                let isAll = start == 0 && Int(count) == state.window.count
                return .memory(isAll ? state.window : Array(state.window[start..<start + Int(count)]))
            }
        }
    }

    // MARK: Sums

    /// Computes the checksum of all bytes before `offset`, from the current position, or from the beginning if that is
    /// further. For a stream it always covers all bytes read.
    @discardableResult
    func sum(upTo offset: Int64) throws(FileStorageError) -> ContentChecksums {
        var digest = state.withLock { $0.digest }
        if case .stream = kind { return digest.checksums }
        if digest.count > offset { digest = ContentDigest() }
        try extend(&digest, to: offset)
        let result = digest
        state.withLock { $0.digest = result }
        return result.checksums
    }

    private func extend(_ digest: inout ContentDigest, to offset: Int64) throws(FileStorageError) {
        let range = digest.count..<offset
        switch kind {
        case .data(let data):
            data.withUnsafeBytes { digest.update(.init(rebasing: $0[Int(range.lowerBound)..<Int(range.upperBound)])) }
        case .file(let file): try file.read(range) { digest.update($0) }
        case .stream: break
        }
    }

    /// Compares the file on the server with what should have been sent.
    ///
    /// - Throws: `.checksumMismatch`, or `.changed` if the file was modified meanwhile.
    func verify(_ stored: StoredFile) throws(FileStorageError) {
        try file?.check()
        let total = length ?? state.withLock { $0.digest.count }
        var mine = try sum(upTo: total)
        if stored.checksums.crc32c == nil, stored.checksums.md5 != nil, canRewind {
            var digest = ContentDigest(withMD5: true)
            try extend(&digest, to: total)
            mine = digest.checksums
        }
        guard stored.metadata.size == total, mine.agree(with: stored.checksums) else {
            throw FileStorageError(.checksumMismatch, "The uploaded data does not match the server's checksum or size.")
        }
    }
}
