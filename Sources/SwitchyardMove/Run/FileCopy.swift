import Foundation
import Switchyard
import SwitchyardBytes
import Synchronization

/// Copies files: several at a time, each as a stream, with its checksum compared on both sides.
struct FileCopy: Sendable {
    private let copying: Copying
    private let source: any MoveFiles
    private let target: any MoveFiles
    private let rewriter: IDRewriter
    /// How often a file is copied whose checksum differs.
    private static let attempts = 3
    /// Errors after which another attempt fails as well.
    private static let final: Set<ErrorCode> = [.invalidArgument, .unsupported, .tooLarge, .unauthorized]

    init(_ copying: Copying, _ source: any MoveFiles, _ target: any MoveFiles, _ rewriter: IDRewriter) {
        self.copying = copying
        self.source = source
        self.target = target
        self.rewriter = rewriter
    }

    func run() async throws(MoveError) {
        try await during("Copying files") {
            try await source.forEachPage { page in
                let left = page.filter { !copying.journal.hasFile($0.path.rawValue) }
                try await forEach(left, atOnce: copying.move.options.parallel) { listed in
                    // A list may leave out what only the file itself tells. One that has been deleted since is left out.
                    guard let file = try await source.metadata(of: listed.path) else { return }
                    if let reason = try await copy(file) {
                        try copying.note([Rejection(file.path.rawValue, reason)], of: .files)
                    } else {
                        try copying.journal.noteFile(file.path.rawValue, bytes: file.size)
                        copying.meter.change { progress in
                            progress.files += 1
                            progress.fileBytes += file.size
                        }
                    }
                }
            }
        }
    }

    /// - Returns: Why the target rejects the file for good.
    func copy(_ file: FileMetadata) async throws(MoveError) -> String? {
        let renamed = file.at(rewriter.rewritten(file.path))
        for attempt in 1... {
            let fingerprint = FileFingerprint()
            let written: FileMetadata
            do throws(MoveError) {
                written = try await patiently("Copying the file “\(file.path)”") {
                    try await target.write(renamed) { fingerprint.reading(source.contents(of: file.path)) }
                }
            } catch {
                guard Self.final.contains(error.code) else { throw error }
                return error.message
            }
            if Task.isCancelled { throw .stopped }
            let (size, md5) = fingerprint.result
            let isSame =
                size == file.size && written.size == size && [nil, md5].contains(file.md5)
                && [nil, md5].contains(written.md5)
            if isSame { return nil }
            if attempt == Self.attempts {
                throw MoveError(
                    .checksumMismatch,
                    "The copy of the file “\(file.path)” differs from the original, \(attempt) times. Is it being changed?"
                )
            }
        }
        return nil
    }
}

extension FileMetadata {
    func at(_ path: FilePath) -> FileMetadata {
        FileMetadata(
            path: path, size: size, contentType: contentType, createdAt: createdAt, updatedAt: updatedAt, md5: md5,
            cacheControl: cacheControl, custom: custom)
    }
}

/// The size and the checksum of contents, computed while they are read.
final class FileFingerprint: Sendable {
    private let state = Mutex((hash: MD5(), size: Int64(0)))

    var result: (size: Int64, md5: String) {
        state.withLock { ($0.size, Hex.encode($0.hash.digest())) }
    }

    /// The same contents. A new reading begins at nothing, since an interrupted upload may start over.
    func reading(_ contents: FileContents) -> FileContents {
        func open(_ base: some AsyncSequence<Data, any Error>) -> FileContents {
            state.withLock { $0 = (MD5(), 0) }
            return base.map { chunk in
                self.state.withLock { state in
                    state.hash.update(chunk)
                    state.size += Int64(chunk.count)
                }
                return chunk
            }
        }
        return open(contents)
    }
}
