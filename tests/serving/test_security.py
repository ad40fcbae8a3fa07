"""The whole server behind TLS and bearer tokens, over REST and gRPC; and who is refused without them."""

import asyncio
import http.client
import ssl

import grpc
import pytest

import tideflow as tf
from tests.serving.loops import make_certificate, served
from tideflow.serving import messages
from tideflow.serving.client import Client


@pytest.fixture
def models(tmp_path, save_linear):
    save_linear(tmp_path / "models" / "linear" / "1", 2)
    return str(tmp_path / "models")


@pytest.fixture
def certificate(tmp_path):
    return make_certificate(tmp_path)[0]


def ssl_config(certificate, more=""):
    """The file of an SSLConfig with this certificate and the key beside it."""
    key, own = (
        path.read_text().replace("\n", r"\n") for path in (certificate.parent / "key.pem", certificate)
    )
    file = certificate.parent / "ssl.config"
    file.write_text(f'server_key: "{key}" server_cert: "{own}" {more.replace("OWN", own)}')
    return f"--ssl_config_file={file}"


async def in_thread(function, *arguments):
    return await asyncio.get_running_loop().run_in_executor(None, function, *arguments)


def urls(server):
    ports = [address.rpartition(":")[2] for address in (server.rest_address, server.grpc_address)]
    return [f"{scheme}://localhost:{port}" for scheme, port in zip(("https", "grpcs"), ports)]


def predicted(url, **options):
    """What the model makes of ones, or the error."""
    try:
        with Client(url, timeout=120, **options) as client:
            return client.predict("linear", [[1, 1, 1]])["y"].tolist()
    except tf.errors.OpError as error:
        return type(error)


def test_both_ports_need_the_certificate_and_a_token(serving_loop, workers, models, certificate):
    tokens = certificate.parent / "tokens"
    tokens.write_text("# of the tests\nfirst\nsecond\n")
    own = {"certificate": str(certificate)}

    async def test():
        flags = [models, ssl_config(certificate), f"--token_file={tokens}"]
        async with served(workers, *flags) as server:
            for url in urls(server):
                for token in ("first", "second"):
                    assert await in_thread(lambda: predicted(url, token=token, **own)) == [[3, 3, 3]]
                for token in (None, "third", "# of the tests"):
                    refused = await in_thread(lambda: predicted(url, token=token, **own))
                    assert refused is tf.errors.UnauthenticatedError
                stranger = await in_thread(lambda: predicted(url, token="first"))
                assert stranger is tf.errors.UnavailableError  # the system does not know the certificate
                plain = url.replace("https", "http").replace("grpcs", "grpc")
                assert await in_thread(lambda: predicted(plain, token="first")) is tf.errors.UnavailableError

    serving_loop(test())


def test_clients_show_a_certificate_where_they_must(serving_loop, workers, models, certificate):
    key = certificate.parent / "key.pem"

    def by_rest(address, shows):
        context = ssl.create_default_context(cafile=certificate)
        if shows:
            context.load_cert_chain(certificate, key)
        connection = http.client.HTTPSConnection(address, timeout=120, context=context)
        try:
            connection.request("GET", "/v1/models/linear")
            return connection.getresponse().status
        except (ssl.SSLError, ConnectionError):
            return None
        finally:
            connection.close()

    def by_grpc(address, shows):
        pair = {"private_key": key.read_bytes(), "certificate_chain": certificate.read_bytes()}
        credentials = grpc.ssl_channel_credentials(certificate.read_bytes(), **(pair if shows else {}))
        with grpc.secure_channel(address, credentials) as channel:
            check = channel.unary_unary("/grpc.health.v1.Health/Check")
            try:
                return messages.HealthCheckResponse.FromString(check(b"", timeout=120)).status
            except grpc.RpcError as error:
                return error.code()

    async def test():
        async with served(
            workers, models, ssl_config(certificate, 'custom_ca: "OWN" client_verify: true')
        ) as server:
            assert await in_thread(by_rest, server.rest_address, True) == 200
            assert await in_thread(by_rest, server.rest_address, False) is None
            assert await in_thread(by_grpc, server.grpc_address, True) == 1
            assert await in_thread(by_grpc, server.grpc_address, False) is grpc.StatusCode.UNAVAILABLE

    serving_loop(test())


def test_nobody_off_the_loopback_asks_without_a_token(serving_loop, workers, models, tmp_path):
    def by_rest(address, host, headers):
        connection = http.client.HTTPConnection(address, timeout=120)
        connection.request("GET", "/v1/models/linear", headers={"Host": host, **headers})
        status = connection.getresponse().status
        connection.close()
        return status

    def by_grpc(address, host, metadata):
        options = [("grpc.default_authority", host)]
        with grpc.insecure_channel(address, options) as channel:
            check = channel.unary_unary("/grpc.health.v1.Health/Check")
            try:
                check(b"", timeout=120, metadata=list(metadata.items()))
            except grpc.RpcError as error:
                return error.code().name
        return "OK"

    async def asked(server, host, **headers):
        return [
            await in_thread(by_rest, server.rest_address, host, headers),
            await in_thread(by_grpc, server.grpc_address, host, headers),
        ]

    async def test():
        with pytest.raises(ValueError, match="Give it tokens"):
            async with served(workers, models, "--host=0.0.0.0"):
                pass
        async with served(workers, models) as server:
            assert await asked(server, "localhost") == [200, "OK"]
            assert await asked(server, "models.example.org") == [403, "PERMISSION_DENIED"]
        (tmp_path / "tokens").write_text("secret")
        async with served(workers, models, f"--token_file={tmp_path / 'tokens'}") as server:
            for host in ("localhost", "models.example.org"):
                assert await asked(server, host) == [401, "UNAUTHENTICATED"]
                assert await asked(server, host, authorization="Bearer secret") == [200, "OK"]

    serving_loop(test())
