import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardWire

/// What requests to a local Firebase do, in words.
struct FirebaseWords: Sendable {
    let record: ExchangeRecord
    let state: ExchangeRecord.State

    private var path: Substring { record.head.target.prefix { $0 != "?" } }
    private var body: JSON? { try? JSON(parsing: state.requestBody.bytes) }
    private var form: [(name: String, value: String)] {
        FormCoding.decode(String(decoding: state.requestBody.bytes, as: UTF8.self)) ?? []
    }

    func summary() -> RequestSummary {
        let decisions = state.notes.compactMap { $0 as? LocalDecision }
        return RequestSummary(
            who: who, service: service, what: what,
            isAllowed: (state.notes.first as? Explanation.Settled)?.explanation.isAllowed
                ?? (decisions.isEmpty ? nil : decisions.allSatisfy(\.isAllowed)))
    }

    private var isChannel: Bool { path.hasSuffix("/channel") }

    var who: Who {
        if let settled = state.notes.first as? Explanation.Settled { return settled.who }
        // The handshake of a channel has its headers in the body, or in the query.
        if isChannel, record.head.headers["Authorization"] == nil {
            let caller = state.notes.compactMap { $0 as? LocalDecision }.first?.caller
            switch caller {
            case .owner?: return .project
            case .user(let id, let claims)?: return Who(id: id, claims)
            case .unauthenticated?: return .signedOut
            case nil: break
            }
            let block = form.first { $0.name == "headers" }?.value ?? ""
            for line in block.split(whereSeparator: \.isNewline) {
                let halves = line.split(separator: ":", maxSplits: 1)
                guard halves.count == 2, halves[0].lowercased() == "authorization" else { continue }
                return Who(authorization: String(halves[1].drop { $0 == " " }))
            }
        }
        return Who(authorization: record.head.headers["Authorization"])
    }

    private var service: RequestSummary.Service {
        if path.hasPrefix("/v0/b/") || path.hasPrefix("/storage/") || path.hasPrefix("/upload/")
            || path.hasPrefix("/b/")
        {
            return .files
        }
        if path.includes("messages:send") || path.includes("registrations") || path.includes("/iid/") {
            return .messaging
        }
        if path.includes("identitytoolkit") || path.includes("securetoken") || path.hasPrefix("/emulator/action") {
            return .auth
        }
        return .storage
    }

    private var what: String {
        switch service {
        case .storage: return documents
        case .auth: return "account: " + Words.spaced(lastName)
        case .files: return files
        case .messaging: return messages
        case .realtime, .functions: return lastName
        }
    }

    /// The last part of the path, or what follows its colon.
    private var lastName: String {
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        return last.lastIndex(of: ":").map { String(last[last.index(after: $0)...]) } ?? last
    }

    // MARK: Documents

    private static let root = "/documents"

    /// The path below the root of the documents.
    private var place: String {
        guard let below = path.part(after: Self.root) else { return "" }
        let rest = below.prefix { $0 != ":" }
        return PercentCoding.decode(rest.drop { $0 == "/" }) ?? String(rest)
    }

    private var documents: String {
        if isChannel { return channel }
        guard path.includes(Self.root) else { return path.isEmpty ? "" : String(path) }
        switch lastName {
        case "commit", "batchWrite":
            // Of a large one the beginning is kept, which is no JSON.
            guard body != nil else { return "write many documents" }
            return Words.listed((body?["writes"]?.array ?? []).map(Self.write))
        case "batchGet":
            return Words.listed(
                (body?["documents"]?.array ?? []).compactMap(\.string).map { "get " + Self.document($0) })
        case "runQuery": return "query " + collection(body?["structuredQuery"], place)
        case "runAggregationQuery":
            return "count " + collection(body?["structuredAggregationQuery"]?["structuredQuery"], place)
        case "listCollectionIds": return place.isEmpty ? "list collections" : "list collections of \(place)"
        case "beginTransaction": return "begin a transaction"
        case "rollback": return "roll a transaction back"
        case "partitionQuery": return "divide " + collection(body?["structuredQuery"], place)
        default: break
        }
        let isDocument = place.split(separator: "/").count.isMultiple(of: 2)
        return switch record.head.method {
        case .get: (isDocument ? "get " : "list ") + place
        case .post: "add to \(place)"
        case .patch: "update \(place)"
        case .delete: place.isEmpty ? "delete everything" : "delete \(place)"
        default: String(path)
        }
    }

    private static func document(_ name: String) -> String {
        name.part(after: root + "/").map(String.init) ?? name
    }

    private static func write(_ json: JSON) -> String {
        if let name = json["delete"]?.string { return "delete " + document(name) }
        if let name = json["verify"]?.string { return "verify " + document(name) }
        let update = json["update"] ?? json["transform"]
        let path = document(update?["name"]?.string ?? update?["document"]?.string ?? "")
        if json["currentDocument"]?["exists"]?.bool == false { return "create " + path }
        return (json["updateMask"] != nil || json["transform"] != nil ? "update " : "set ") + path
    }

    private func collection(_ query: JSON?, _ place: String) -> String {
        let from = query?["from"]?[0]
        let id = from?["collectionId"]?.string ?? ""
        if from?["allDescendants"]?.bool == true { return "all collections “\(id)”" }
        return place.isEmpty ? id : place + "/" + id
    }

    private var channel: String {
        let isWrite = path.includes("/Write/")
        let target = record.head.target
        guard record.head.method == .post else {
            return target.includes("TYPE=terminate") ? "close the channel" : isWrite ? "results of writes" : "changes"
        }
        if target.includes("TYPE=terminate") { return "close the channel" }
        let messages = form.filter { $0.name.hasPrefix("req") }.compactMap { try? JSON(parsing: $0.value) }
        let words: [String] = messages.compactMap { message in
            if let target = message["addTarget"] {
                if let query = target["query"] {
                    let parent = query["parent"]?.string.map(Self.document) ?? ""
                    let below = parent.includes("/documents") ? "" : parent
                    return "watch " + collection(query["structuredQuery"], below)
                }
                let names = target["documents"]?["documents"]?.array?.compactMap(\.string).map(Self.document) ?? []
                return "watch " + names.joined(separator: ", ")
            }
            if message["removeTarget"] != nil { return "stop watching" }
            guard let writes = message["writes"]?.array, !writes.isEmpty else { return nil }
            return Words.listed(writes.map(Self.write))
        }
        return words.isEmpty ? "open a channel" : Words.listed(words)
    }

    // MARK: Files and messages

    private var files: String {
        let object = path.part(after: "/o/").map { PercentCoding.decode($0) ?? "" } ?? ""
        let named = record.head.target.part(after: "name=").map { rest in
            PercentCoding.decode(rest.prefix { $0 != "&" }) ?? ""
        }
        switch record.head.method {
        case .get where object.isEmpty: return "list files"
        case .get: return "read \(object)"
        case .delete: return "delete \(object)"
        case .patch, .put: return "change \(named ?? object)"
        default: return "upload \(named ?? object)"
        }
    }

    private var messages: String {
        guard path.includes("messages:send") else { return "register for messages" }
        let message = body?["message"]
        let target = message?["topic"]?.string.map { "topic \($0)" } ?? message?["condition"]?.string ?? "a device"
        return "send a message to \(target)"
    }
}

extension Who {
    fileprivate init(id: String, _ claims: JSONObject) {
        let isAnonymous = claims["firebase"]?["sign_in_provider"]?.string == "anonymous"
        self.init(kind: isAnonymous ? .anonymous : .user, id: id, claims: claims)
    }
}

enum Words {
    /// Several in one line: the first, and how many more.
    static func listed(_ words: [String]) -> String {
        switch words.count {
        case 0: "nothing"
        case 1, 2: words.joined(separator: ", ")
        default: "\(words[0]) and \(words.count - 1) more"
        }
    }

    /// `signInWithPassword` as “sign in with password”.
    static func spaced(_ name: String) -> String {
        var text = ""
        for letter in name {
            if letter.isUppercase { text += " " }
            text += letter.lowercased()
        }
        return text
    }
}
