# SPDX-License-Identifier: Apache-2.0
# docker build -t pliant . && docker run --rm -v "$PWD":/work pliant sweep SWEEP.yaml -o DATASET
FROM debian:12 AS build
COPY . /src
RUN /src/scripts/install /opt/pliant

FROM debian:12-slim
COPY scripts/setup /src/scripts/setup
RUN /src/scripts/setup --runtime
COPY --from=build /opt/pliant /opt/pliant
WORKDIR /work
ENTRYPOINT ["/opt/pliant/bin/pliant"]
