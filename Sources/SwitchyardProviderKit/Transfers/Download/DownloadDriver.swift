package import Switchyard

/// What a provider supplies for downloads: the call. When to make it again, and from where, is decided by
/// ``DownloadMachine``.
package protocol DownloadDriver: Sendable {
    /// Asks for the bytes of a file from an offset on; returns when the head of the answer is there.
    ///
    /// A server may send more than was asked for, from an earlier offset or beyond the end; the answer says so.
    /// - Throws: `.rangeNotSatisfiable` if the file has no byte at `offset`; `.changed` if it is no longer the version
    ///   asked for, where the server tells.
    func open(_ path: FilePath, _ request: DownloadRequest) async throws(FileStorageError) -> DownloadAnswer

    /// How many bytes a file has. Asked for where a range is empty: no server can be asked for no bytes. Repeats what is
    /// worth repeating itself.
    func size(of path: FilePath) async throws(FileStorageError) -> Int64
}

package struct DownloadRequest: Sendable, Hashable {
    package let offset: Int64
    /// The first byte that is not wanted; `nil` for all.
    package let end: Int64?
    /// What the bytes before `offset` are of.
    package let version: String?

    package init(offset: Int64, end: Int64?, version: String?) {
        self.offset = offset
        self.end = end
        self.version = version
    }

    /// For the `Range` header; `nil` when the whole file is wanted.
    package var rangeHeader: String? {
        if let end { return "bytes=\(offset)-\(end - 1)" }
        return offset == 0 ? nil : "bytes=\(offset)-"
    }
}

/// What comes before the bytes.
package struct DownloadHead: Sendable, Hashable {
    /// Where in the file the first byte stands that comes.
    package let start: Int64
    /// The size of the file; `nil` where the server does not tell.
    package let total: Int64?
    package let version: String?
    /// Of the whole file, as far as what comes is what was stored.
    package let checksums: ContentChecksums

    package init(
        start: Int64, total: Int64?, version: String?, checksums: ContentChecksums = ContentChecksums()
    ) {
        self.start = start
        self.total = total
        self.version = version
        self.checksums = checksums
    }

    /// This head with what only an earlier answer has told of the same contents.
    func completed(by earlier: DownloadHead?) -> DownloadHead {
        DownloadHead(
            start: start, total: total ?? earlier?.total, version: version ?? earlier?.version,
            checksums: ContentChecksums(
                crc32c: checksums.crc32c ?? earlier?.checksums.crc32c, md5: checksums.md5 ?? earlier?.checksums.md5))
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
