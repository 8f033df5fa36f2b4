import Foundation
import Switchyard
import SwitchyardBytes

/// Compares files by their sizes, checksums and metadata. Where an end knows no checksum, it reads the contents.
struct FileComparison: Sendable {
    let source: any MoveFiles
    let target: any MoveFiles
    let rewriter: IDRewriter

    func compare(_ repairs: Bool, _ verification: inout MoveVerification) async throws {
        var known: Set<PathDigest> = []
        try await source.forEachPage { page in
            for file in page {
                try Task.checkCancellation()
                verification.files += 1
                let renamed = file.at(rewriter.rewritten(file.path))
                known.insert(PathDigest(renamed.path.rawValue))
                guard var difference = try await difference(file, renamed) else { continue }
                if repairs {
                    _ = try await target.write(renamed) { source.contents(of: file.path) }
                    difference.isRepaired = true
                }
                verification.differences.append(difference)
            }
        }
        try await target.forEachPage { page in
            for file in page where !known.contains(PathDigest(file.path.rawValue)) {
                verification.differences.append(.init(part: .files, kind: .extra, subject: file.path.rawValue))
            }
        }
    }

    private func difference(
        _ file: FileMetadata, _ renamed: FileMetadata
    ) async throws -> MoveVerification.Difference? {
        let subject = renamed.path.rawValue
        guard let found = try await target.metadata(of: renamed.path) else {
            return .init(part: .files, kind: .missing, subject: subject)
        }
        // A list may leave out what only the file itself tells.
        let file = try await source.metadata(of: file.path) ?? file
        var fields: [String] = []
        if file.size != found.size {
            fields.append("size")
        } else if try await checksum(file, source) != checksum(found, target) {
            fields.append("contents")
        }
        if file.contentType != found.contentType { fields.append("contentType") }
        if file.custom != found.custom { fields.append("custom") }
        return fields.isEmpty ? nil : .init(part: .files, kind: .changed, subject: subject, fields: fields)
    }

    private func checksum(_ file: FileMetadata, _ files: any MoveFiles) async throws -> String {
        if let md5 = file.md5 { return md5 }
        let fingerprint = FileFingerprint()
        for try await _ in fingerprint.reading(files.contents(of: file.path)) {}
        return fingerprint.result.md5
    }
}
