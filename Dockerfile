# cuset-stage with CUDA's compiler, for training and for judging; docs/install.md has the commands ("In a container").
#
#   docker build --build-arg UID="$(id -u)" --tag cuset-stage .
#
# The base image is NVIDIA's, under the NVIDIA Deep Learning Container License, and holds software under licences of its own. Its CUDA is
# that of the tested torch (requirements/constraints.txt); CUDA 13 needs driver 580 or later on the host.
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04

# python3-dev and a C compiler: Triton builds its launchers when training starts. bubblewrap: the better isolation, where the container
# may use it. Versions are the distribution's: its archive keeps only the latest of each, so a pin would break the build.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends build-essential bubblewrap ca-certificates python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/*

# Owned by root: neither training nor an answer can change it. The checkout goes: every program may read /opt, and data/kernels has answers.
COPY . /opt/cuset-stage
RUN --mount=type=cache,target=/root/.cache/pip \
    python3 -m venv /opt/cuset \
    && /opt/cuset/bin/pip install --constraint /opt/cuset-stage/requirements/constraints.txt /opt/cuset-stage bitsandbytes \
    && rm -rf /opt/cuset-stage

# The user that trains and judges: with your own number, so that it may write to a folder of yours. Ubuntu's image has a user 1000.
ARG UID=1000
RUN if id ubuntu >/dev/null 2>&1; then userdel --remove ubuntu; fi \
    && useradd --no-log-init --create-home --uid "$UID" cuset \
    && install --directory --owner=cuset /work /home/cuset/.cache

ENV PATH=/opt/cuset/bin:$PATH
USER $UID
WORKDIR /work
CMD ["cuset", "doctor"]
