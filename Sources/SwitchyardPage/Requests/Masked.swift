import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// What is shown of requests and answers: no credentials.
enum Masked {
    private static let fields: Set<String> = [
        "authorization", "apikey", "cookie", "set-cookie", "x-goog-api-key", "x-goog-firebase-installations-auth",
        "x-firebase-appcheck", "x-page-key",
    ]
    private static let parameters: Set<String> = ["apikey", "key", "token", "access_token", "oobcode"]
    private static let members: Set<String> = [
        "password", "newpassword", "idtoken", "id_token", "refreshtoken", "refresh_token", "access_token",
        "accesstoken", "token", "provider_token", "customtoken", "mfapendingcredential",
    ]

    static func headers(_ headers: HTTPHeaders) -> JSON {
        .array(
            headers.map { field in
                let isSecret = fields.contains(field.name.lowercased())
                return ["name": .string(field.name), "value": .string(isSecret ? masked(field.value) : field.value)]
            })
    }

    /// A path with its query.
    static func target(_ target: String) -> String {
        guard let mark = target.firstIndex(of: "?") else { return target }
        let items = target[target.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
        let shown = items.map { item in
            let name = item.prefix { $0 != "=" }
            return parameters.contains(name.lowercased()) ? name + "=…" : item
        }
        return target[...mark] + shown.joined(separator: "&")
    }

    /// The beginning of a credential tells one from another.
    private static func masked(_ value: String) -> String {
        guard let space = value.lastIndex(of: " ") else { return value.prefix(4) + "…" }
        let secret = value[value.index(after: space)...]
        return secret == "owner" ? value : value[...space] + secret.prefix(6) + "…"
    }

    /// A body, if it is text.
    static func body(_ content: ExchangeRecord.Content, _ headers: HTTPHeaders) -> JSON {
        let text = String(validating: content.bytes, as: UTF8.self)
        let isText = text != nil || isTextual(headers["Content-Type"])
        var shown = text ?? (isText ? String(decoding: content.bytes, as: UTF8.self) : "")
        var isJSON = false
        if !content.isTruncated, let json = try? JSON(parsing: content.bytes) {
            isJSON = true
            shown = masked(json).text()
        }
        return .object([
            "text": .string(shown), "size": .number(content.count), "truncated": .bool(content.isTruncated),
            "isBinary": .bool(!isText), "isJSON": .bool(isJSON), "type": .text(headers["Content-Type"]),
        ])
    }

    private static func isTextual(_ type: String?) -> Bool {
        guard let type else { return false }
        return type.hasPrefix("text/") || type.hasPrefix("application/json") || type.hasPrefix("application/x-www-form")
    }

    private static func masked(_ json: JSON) -> JSON {
        switch json {
        case .array(let elements): .array(elements.map(masked))
        case .object(let object):
            .object(
                JSONObject(
                    distinct: object.members.map { member in
                        let isSecret = members.contains(member.key.lowercased()) && member.value.string != nil
                        return JSONObject.Member(key: member.key, value: isSecret ? "…" : masked(member.value))
                    }))
        default: json
        }
    }
}
