import SwitchyardServerKit
import SwitchyardWire

/// The files of the page, which the program carries in itself.
enum PageAssets {
    private struct Asset: Sendable {
        let bytes: [UInt8]
        let type: String
    }

    private static let html = "text/html; charset=utf-8"
    private static let css = "text/css; charset=utf-8"
    private static let script = "text/javascript; charset=utf-8"

    /// By name. The list of the target's resources in Package.swift has the same files.
    private static func asset(_ name: String) -> Asset? {
        switch name {
        case "index.html": Asset(bytes: PackageResources.index_html, type: html)
        default: nil
        }
    }

    /// Nothing else may be loaded by the page, and no other page may show it in a frame.
    static let policy =
        "default-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; style-src 'self'; script-src 'self'; "
        + "worker-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    static func answer(_ name: String) -> ServerResponse {
        guard let asset = asset(name) else {
            return .text("There is no such file.\n", status: 404)
        }
        return ServerResponse(
            headers: [
                "Content-Type": asset.type, "Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff",
                "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache",
            ], body: asset.bytes)
    }
}
