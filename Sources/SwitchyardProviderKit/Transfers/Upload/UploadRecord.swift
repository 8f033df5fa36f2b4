import Foundation
package import Switchyard

/// The record of an upload that can continue after the process has ended.
package struct UploadRecord: Sendable, Codable, Identifiable {
    package let id: String
    package let path: String
    package var source: SourceFile
    /// Where else the source may be; set when the record is saved.
    var places: SourcePlaces?
    package let begunAt: Int64
    package let session: UploadSession
    /// The offset that the server has confirmed.
    package var offset: Int64
    /// The checksum of the file's bytes before `offset`.
    package var crc32c: UInt32
    package let options: Options

    /// The part of ``UploadOptions`` that requests of a later process still need.
    package struct Options: Sendable, Codable {
        package let contentType: String?
        package let cacheControl: String?
        package let custom: [String: String]
        package let replacesExisting: Bool

        package init(_ options: UploadOptions) {
            contentType = options.contentType
            cacheControl = options.cacheControl
            custom = options.custom
            replacesExisting = options.replacesExisting
        }

        package var uploadOptions: UploadOptions {
            UploadOptions(
                contentType: contentType, cacheControl: cacheControl, custom: custom,
                replacesExisting: replacesExisting)
        }
    }

    package init(
        id: String, path: String, source: SourceFile, begunAt: Int64, session: UploadSession, offset: Int64,
        crc32c: UInt32, options: Options
    ) {
        self.id = id
        self.path = path
        self.source = source
        self.begunAt = begunAt
        self.session = session
        self.offset = offset
        self.crc32c = crc32c
        self.options = options
    }

    var interrupted: InterruptedUpload {
        InterruptedUpload(
            id: id, path: FilePath(unchecked: path), file: URL(fileURLWithPath: source.path), completedBytes: offset,
            totalBytes: source.identity.size)
    }
}
