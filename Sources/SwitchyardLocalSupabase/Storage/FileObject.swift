import SwitchyardBytes
import SwitchyardServerKit

/// An object's row.
struct FileObject: Sendable {
    let id: String
    let place: FileObjectName
    /// The name of the file that holds the contents.
    let version: String
    /// The service's own metadata.
    let system: JSONObject
    /// The app's own metadata.
    let notes: JSON
    let createdAt: String
    let updatedAt: String

    /// From a row with `columns`.
    init?(_ row: String?) {
        guard let row, let json = try? JSON(parsing: row), let id = json["id"]?.string,
            let version = json["version"]?.string, let bucket = json["bucket_id"]?.string,
            let name = json["name"]?.string, let place = try? FileObjectName(bucket: bucket, name: name)
        else { return nil }
        self.id = id
        self.place = place
        self.version = version
        system = json["metadata"]?.object ?? [:]
        notes = json["user_metadata"] ?? .null
        createdAt = json["created_at"]?.string ?? ""
        updatedAt = json["updated_at"]?.string ?? ""
    }

    static let columns = """
        json_build_object('id', id, 'bucket_id', bucket_id, 'name', name, 'version', version, 'metadata', metadata,
          'user_metadata', user_metadata, 'created_at', \(time("created_at")), 'updated_at', \(time("updated_at")))
        """

    /// A column in the service's time format.
    static func time(_ column: String) -> String {
        #"to_char(\#(column) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"#
    }

    var size: Int64 { system["size"]?.int64 ?? 0 }
    var contentType: String { system["mimetype"]?.string ?? "application/octet-stream" }
    var cacheControl: String { system["cacheControl"]?.string ?? "no-cache" }
    /// The ETag with its quotes.
    var etag: String { system["eTag"]?.string ?? "\"\"" }
    var lastModified: String { system["lastModified"]?.string ?? updatedAt }

    /// The metadata in responses.
    var info: JSON {
        [
            "id": .string(id), "name": .string(place.name), "version": .string(version),
            "bucket_id": .string(place.bucket), "size": .integer(size), "content_type": .string(contentType),
            "cache_control": .string(cacheControl), "etag": .string(etag),
            "metadata": notes.isNull ? [:] : notes,
            "last_modified": .string(lastModified), "created_at": .string(createdAt),
        ]
    }
}

/// An object to be written.
struct NewObject: Sendable {
    var place: FileObjectName
    var contentType = "application/octet-stream"
    /// Returned later exactly as given.
    var cacheControl = "no-cache"
    var notes: JSON = .null
    var replaces = false
    /// The subject of the token used to write it.
    var owner: String?

    /// The service's metadata.
    func system(_ sums: ServerContents.Sums, at moment: String) -> JSON {
        [
            "eTag": .string("\"\(Hex.encode(sums.md5))\""), "size": .integer(sums.size),
            "mimetype": .string(contentType), "cacheControl": .string(cacheControl), "lastModified": .string(moment),
            "contentLength": .integer(sums.size), "httpStatusCode": 200,
        ]
    }
}
