import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardText

/// One call of the page's API: the request, with its body read.
struct PageCall: Sendable {
    let request: ServerRequest
    let body: JSONObject

    /// The largest body that is read as JSON. Files have none.
    private static let limit = 16 << 20

    init(_ request: ServerRequest, readsBody: Bool = true) async throws {
        self.request = request
        guard readsBody else {
            body = [:]
            return
        }
        let bytes = try await request.body.collect(upTo: Self.limit)
        guard !bytes.isEmpty else {
            body = [:]
            return
        }
        guard let object = (try? JSON(parsing: bytes))?.object else {
            throw PageFailure.invalid("The body of this request is no JSON object.")
        }
        body = object
    }

    func parameter(_ name: String) -> String { request.parameters[name] ?? "" }

    func query(_ name: String) -> String? { request.query(name) }

    func string(_ name: String) throws(PageFailure) -> String? {
        guard let value = body[name], !value.isNull else { return nil }
        guard let text = value.string else { throw .invalid("“\(name)” has to be text.") }
        return text
    }

    func required(_ name: String) throws(PageFailure) -> String {
        guard let text = try string(name) else { throw .invalid("“\(name)” is missing.") }
        return text
    }

    func bool(_ name: String) throws(PageFailure) -> Bool {
        guard let value = body[name], !value.isNull else { return false }
        guard let flag = value.bool else { throw .invalid("“\(name)” has to be true or false.") }
        return flag
    }

    func number(_ name: String, in range: ClosedRange<Int>) throws(PageFailure) -> Int? {
        guard let value = body[name], !value.isNull else { return nil }
        guard let number = value.int, range.contains(number) else {
            throw .invalid("“\(name)” has to be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    func queryNumber(_ name: String) throws(PageFailure) -> Int? {
        guard let text = query(name), !text.isEmpty else { return nil }
        guard let number = Int(text) else { throw .invalid("“\(name)” has to be a number.") }
        return number
    }

    /// Typed JSON as the data of a document, without what only a write can do.
    static func data(_ json: JSON) throws -> DocumentData {
        guard case .map(let data) = try DocumentJSON.value(["map": json]) else {
            throw PageFailure.invalid("“data” has to be an object.")
        }
        return data
    }

    /// As whom to do it: a member of the body, or JSON in the query.
    func persona() throws(PageFailure) -> Persona {
        if let text = query("as"), !text.isEmpty {
            guard let json = try? JSON(parsing: Array(text.utf8)) else {
                throw .invalid("“as” in the query is no JSON.")
            }
            return try Persona(json)
        }
        return try Persona(body["as"])
    }
}
