/// A body of several parts (RFC 2046), for uploads: parts from memory or from files, streamed in turn.
///
/// Its length is known beforehand, so nothing needs chunks; no file is ever held in memory as a whole.
package struct MultipartBody: Sendable {
    package struct Part: Sendable {
        package enum Content: Sendable {
            case bytes([UInt8])
            case file(path: String, range: Range<Int64>?)
        }

        package var headers: HTTPHeaders
        package var content: Content

        package init(headers: HTTPHeaders = [:], _ content: Content) {
            self.headers = headers
            self.content = content
        }

        /// A field of a form (RFC 7578). Quotes and line ends in the names are percent-coded, as browsers do.
        package static func field(
            _ name: String, _ content: Content, fileName: String? = nil, type: String? = nil
        ) -> Part {
            var disposition = "form-data; name=\"\(quoted(name))\""
            if let fileName { disposition += "; filename=\"\(quoted(fileName))\"" }
            var headers: HTTPHeaders = ["Content-Disposition": disposition]
            if let type { headers["Content-Type"] = type }
            return Part(headers: headers, content)
        }

        package static func field(_ name: String, _ text: String) -> Part {
            field(name, .bytes(Array(text.utf8)))
        }

        private static func quoted(_ name: String) -> String {
            var text = ""
            for scalar in name.unicodeScalars {
                switch scalar {
                case "\"": text += "%22"
                case "\r": text += "%0D"
                case "\n": text += "%0A"
                default: text.unicodeScalars.append(scalar)
                }
            }
            return text
        }
    }

    /// Such as `form-data`, `related` or `mixed`.
    package let subtype: String
    package let boundary: String
    package let parts: [Part]

    /// - Parameter boundary: 128 random bits unless given; no part can hold it by accident.
    package init(_ subtype: String = "form-data", boundary: String? = nil, parts: [Part]) {
        self.subtype = subtype
        self.parts = parts
        if let boundary {
            self.boundary = boundary
        } else {
            var random = SystemRandomNumberGenerator()
            self.boundary = "part-" + String(random.next(), radix: 16) + String(random.next(), radix: 16)
        }
    }

    /// For the request's `Content-Type`.
    package var contentType: String { "multipart/\(subtype); boundary=\(boundary)" }

    /// The body to upload.
    ///
    /// - Throws: `.requestBodyFailed` if a file cannot be opened now, `.invalidRequest` for a header with line ends.
    package func body() throws(TransportError) -> RequestBody {
        var length: Int64 = Int64(closing.utf8.count)
        var heads: [[UInt8]] = []
        for (index, part) in parts.enumerated() {
            let head = try head(of: part, isFirst: index == 0)
            heads.append(head)
            length += Int64(head.count)
            switch part.content {
            case .bytes(let bytes): length += Int64(bytes.count)
            case .file(let path, let range): length += try FileReader(path, range: range).count
            }
        }
        let end = Array(closing.utf8)
        return .produced(length: length, isReplayable: true) { [parts, heads] writer in
            for (part, head) in zip(parts, heads) {
                try await writer.write(head)
                switch part.content {
                case .bytes(let bytes): try await writer.write(bytes)
                case .file(let path, let range): try await Self.copy(try FileReader(path, range: range), to: writer)
                }
            }
            try await writer.write(end)
        }
    }

    private static func copy(_ reader: sending FileReader, to writer: RequestBodyWriter) async throws(TransportError) {
        while true {
            let bytes = try reader.read(upTo: 256 * 1024)
            if bytes.isEmpty { return }
            try await writer.write(bytes)
        }
    }

    private func head(of part: Part, isFirst: Bool) throws(TransportError) -> [UInt8] {
        var text = ""
        for field in part.headers {
            guard !(field.name + field.value).utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else {
                throw TransportError(.invalidRequest, "the header of a part holds a control character")
            }
            text += "\(field.name): \(field.value)\r\n"
        }
        return Array("\(isFirst ? "" : "\r\n")--\(boundary)\r\n\(text)\r\n".utf8)
    }

    private var closing: String { "\(parts.isEmpty ? "" : "\r\n")--\(boundary)--\r\n" }
}
