import SwitchyardBytes

/// A bucket and the restrictions on its contents.
struct FileBucket: Sendable {
    let id: String
    let isPublic: Bool
    let sizeLimit: Int64?
    let types: [String]?

    init?(_ row: String?) {
        guard let row, let json = try? JSON(parsing: row), let id = json["id"]?.string else { return nil }
        self.id = id
        isPublic = json["public"]?.bool ?? false
        sizeLimit = json["file_size_limit"]?.int64
        types = json["allowed_mime_types"]?.array?.compactMap(\.string)
    }

    static let columns = """
        json_build_object('id', id, 'name', name, 'owner', coalesce(owner_id, owner::text, ''), 'public', public,
          'file_size_limit', file_size_limit, 'allowed_mime_types', allowed_mime_types,
          'created_at', \(FileObject.time("created_at")), 'updated_at', \(FileObject.time("updated_at")))
        """

    /// The format in lists, with its type.
    static let listed = "(\(columns)::jsonb || jsonb_build_object('type', type))"

    /// The maximum size of one request, except for resumable uploads.
    static let standardLimit: Int64 = 5 << 30

    /// - Throws: `EntityTooLarge`.
    func check(size: Int64, isResumable: Bool = false) throws(LocalSupabaseFileError) {
        let limit = sizeLimit ?? (isResumable ? .max : Self.standardLimit)
        guard size <= limit else { throw .tooLarge }
    }

    /// Checks that the type is exactly one of the allowed types, including parameters, or matches a wildcard.
    ///
    /// - Throws: `InvalidMimeType`.
    func check(type: String) throws(LocalSupabaseFileError) {
        guard let types, !types.isEmpty else { return }
        let fits = types.contains { allowed in
            allowed == type || allowed == "*/*" || (allowed.hasSuffix("/*") && type.hasPrefix(allowed.dropLast()))
        }
        guard fits else { throw .invalidType(type) }
    }

    /// A number of bytes, or text such as "20MB".
    static func size(_ json: JSON) -> Int64? {
        if let number = json.int64 { return number >= 0 ? number : nil }
        guard let text = json.string?.uppercased() else { return nil }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let units: [String: Int64] = ["": 1, "B": 1, "KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000]
        guard let number = Int64(digits), let unit = units[text.dropFirst(digits.count).filter { $0 != " " }] else {
            return nil
        }
        let (bytes, overflows) = number.multipliedReportingOverflow(by: unit)
        return overflows ? nil : bytes
    }
}
