package import Switchyard

/// The download call, supplied by a provider. ``DownloadMachine`` decides when to repeat it, and from which offset.
package protocol DownloadDriver: Sendable {
    /// Requests the bytes of a file from an offset on; returns when the head of the response has arrived.
    ///
    /// A server may send more than requested, from an earlier offset or beyond the end; the answer says so.
    /// - Throws: `.rangeNotSatisfiable` if the file has no byte at `offset`; `.changed` if it is no longer the requested
    ///   version, if the server reports that.
    func open(_ path: FilePath, _ request: DownloadRequest) async throws(FileStorageError) -> DownloadAnswer

    /// The size of a file. Called for an empty range, since no server can be asked for zero bytes. Does its own retries.
    func size(of path: FilePath) async throws(FileStorageError) -> Int64
}

package struct DownloadRequest: Sendable, Hashable {
    package let offset: Int64
    /// The end of the requested range; `nil` for all.
    package let end: Int64?
    /// The version of the bytes before `offset`.
    package let version: String?

    package init(offset: Int64, end: Int64?, version: String?) {
        self.offset = offset
        self.end = end
        self.version = version
    }

    /// The `Range` header; `nil` for the whole file.
    package var rangeHeader: String? {
        if let end { return "bytes=\(offset)-\(end - 1)" }
        return offset == 0 ? nil : "bytes=\(offset)-"
    }
}

/// The head of a download.
package struct DownloadHead: Sendable, Hashable {
    /// The offset in the file of the first byte sent.
    package let start: Int64
    /// The size of the file; `nil` if the server does not report it.
    package let total: Int64?
    package let version: String?
    /// The checksums of the whole file, if the bytes are sent as stored.
    package let checksums: ContentChecksums
    /// Whether the server unpacks the stored file, so that neither its size nor its checksums are those of the bytes sent.
    package let isUnpacked: Bool

    package init(
        start: Int64, total: Int64?, version: String?, checksums: ContentChecksums = ContentChecksums(),
        isUnpacked: Bool = false
    ) {
        self.start = start
        self.total = total
        self.version = version
        self.checksums = isUnpacked ? ContentChecksums() : checksums
        self.isUnpacked = isUnpacked
    }

    /// This head with what only an earlier answer had about the same contents.
    func completed(by earlier: DownloadHead?) -> DownloadHead {
        DownloadHead(
            start: start, total: total ?? earlier?.total, version: version ?? earlier?.version,
            checksums: ContentChecksums(
                crc32c: checksums.crc32c ?? earlier?.checksums.crc32c, md5: checksums.md5 ?? earlier?.checksums.md5),
            isUnpacked: isUnpacked || earlier?.isUnpacked == true)
    }
}

package struct DownloadAnswer: Sendable {
    package let head: DownloadHead
    package let body: any DownloadBody

    package init(_ head: DownloadHead, _ body: any DownloadBody) {
        self.head = head
        self.body = body
    }
}

/// The bytes of an answer. Dropping it ends the transfer.
package protocol DownloadBody: AnyObject, Sendable {
    /// The next bytes, never empty; `nil` at the end. One caller at a time.
    func next() async throws(FileStorageError) -> [UInt8]?
    func cancel()
}
